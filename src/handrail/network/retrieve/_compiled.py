"""Functions compiled by numba; see `kernels`. Written over flat arrays, with heaps of tuples as the plain twins have."""
# ruff: noqa: ARG001, PERF401 - numba wants plain loops, and pairs of arrays are handed on whole
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

import heapq

import numba
import numpy as np

INFINITE = np.inf


@numba.njit(cache=True)
def knuth(in_ptr, in_idx, out_ptr, out_idx, con_ptr, con_idx, goal, cost, banned):
    """Cheapest derivation trees: (value of each node, unit that makes it)."""
    units, nodes = len(in_ptr) - 1, len(con_ptr) - 1
    missing = np.empty(units, np.int64)
    for u in range(units):
        missing[u] = -1 if banned[u] else in_ptr[u + 1] - in_ptr[u]
    total = cost.copy()
    value = np.full(nodes, INFINITE)
    settled = np.zeros(nodes, np.bool_)
    maker = np.full(nodes, -1, np.int64)
    heap = [(0.0, 0, -1)]
    while len(heap) > 0:
        distance, node, unit = heapq.heappop(heap)
        if settled[node]:
            continue
        settled[node] = True
        value[node] = distance
        maker[node] = unit
        if node == goal:
            break
        for k in range(con_ptr[node], con_ptr[node + 1]):
            other = con_idx[k]
            total[other] += distance
            missing[other] -= 1
            if missing[other] == 0:
                reached = total[other]
                for j in range(out_ptr[other], out_ptr[other + 1]):
                    n = out_idx[j]
                    if not settled[n]:
                        heapq.heappush(heap, (reached, n, other))
    return value, maker


@numba.njit(cache=True)
def _closure(in_ptr, in_idx, out_ptr, out_idx, plan, size, alive, waiting_ptr, waiting, goal, missing, reached, queue):
    """Fire the alive units of `plan`; True where the goal is reached. `queue` then holds the firing order."""
    head = 0
    tail = 0
    reached[:] = False
    reached[0] = True
    for k in range(size):
        u = plan[k]
        missing[k] = 0
        if alive[k]:
            for j in range(in_ptr[u], in_ptr[u + 1]):
                if in_idx[j] != 0:
                    missing[k] += 1
            if missing[k] == 0:
                queue[tail] = k
                tail += 1
    while head < tail:
        k = queue[head]
        head += 1
        u = plan[k]
        for j in range(out_ptr[u], out_ptr[u + 1]):
            n = out_idx[j]
            if not reached[n]:
                reached[n] = True
                if n == goal:
                    return True
                for w in range(waiting_ptr[n], waiting_ptr[n + 1]):
                    other = waiting[w]
                    if alive[other]:
                        missing[other] -= 1
                        if missing[other] == 0:
                            queue[tail] = other
                            tail += 1
    return False


@numba.njit(cache=True)
def prune(in_ptr, in_idx, out_ptr, out_idx, goal, inside, free, order, limit):
    """Reverse deletion inside the plan `inside`; units in the order of `order` are left out while the goal is made."""
    units = len(in_ptr) - 1
    nodes = goal + 1
    plan = np.flatnonzero(inside)
    size = len(plan)
    position = np.full(units, -1, np.int64)
    for k in range(size):
        position[plan[k]] = k
    waiting_ptr = np.zeros(nodes + 1, np.int64)
    for k in range(size):
        u = plan[k]
        for j in range(in_ptr[u], in_ptr[u + 1]):
            waiting_ptr[in_idx[j] + 1] += 1
    for n in range(nodes):
        waiting_ptr[n + 1] += waiting_ptr[n]
    fill = waiting_ptr.copy()
    waiting = np.empty(waiting_ptr[nodes], np.int64)
    for k in range(size):
        u = plan[k]
        for j in range(in_ptr[u], in_ptr[u + 1]):
            n = in_idx[j]
            waiting[fill[n]] = k
            fill[n] += 1
    alive = np.ones(size, np.bool_)
    missing = np.zeros(size, np.int64)
    reached = np.zeros(nodes, np.bool_)
    queue = np.empty(size, np.int64)
    # Full firing, then backwards from the goal through the first unit that made each node.
    first = np.full(nodes, -1, np.int64)
    _closure(in_ptr, in_idx, out_ptr, out_idx, plan, size, alive, waiting_ptr, waiting, -1, missing, reached, queue)
    fired = 0
    for k in range(size):
        if missing[k] == 0:
            fired += 1
    for q in range(fired):
        u = plan[queue[q]]
        for j in range(out_ptr[u], out_ptr[u + 1]):
            if first[out_idx[j]] < 0:
                first[out_idx[j]] = queue[q]
    alive[:] = False
    seen = np.zeros(nodes, np.bool_)
    seen[0] = True
    stack = [goal]
    count = 0
    while len(stack) > 0:
        n = stack.pop()
        if seen[n]:
            continue
        seen[n] = True
        k = first[n]
        if not alive[k]:
            alive[k] = True
            count += 1
            u = plan[k]
            for j in range(in_ptr[u], in_ptr[u + 1]):
                stack.append(in_idx[j])
    if count <= limit:
        for u in order:
            k = position[u]
            if k >= 0 and alive[k] and not free[u]:
                alive[k] = False
                if not _closure(in_ptr, in_idx, out_ptr, out_idx, plan, size, alive, waiting_ptr, waiting, goal,
                                missing, reached, queue):  # fmt: skip
                    alive[k] = True
    kept = np.zeros(units, np.bool_)
    for k in range(size):
        if alive[k]:
            kept[plan[k]] = True
    return kept


@numba.njit(cache=True)
def lmcut(in_ptr, in_idx, out_ptr, out_idx, con_ptr, con_idx, pro_ptr, pro_idx, goal, left, limit, enough, zero):
    """LM-cut; `left` becomes the residual costs."""
    units, nodes = len(in_ptr) - 1, len(con_ptr) - 1
    value = np.full(nodes, INFINITE)
    supporter = np.full(units, -1, np.int64)
    missing = np.empty(units, np.int64)
    for u in range(units):
        missing[u] = in_ptr[u + 1] - in_ptr[u]
    value[0] = 0.0
    done = np.zeros(nodes, np.bool_)
    heap = [(0.0, 0)]
    while len(heap) > 0:
        distance, node = heapq.heappop(heap)
        if done[node]:
            continue
        done[node] = True
        for k in range(con_ptr[node], con_ptr[node + 1]):
            u = con_idx[k]
            missing[u] -= 1
            if missing[u] == 0:
                supporter[u] = node
                reached = distance + left[u]
                for j in range(out_ptr[u], out_ptr[u + 1]):
                    if reached < value[out_idx[j]]:
                        value[out_idx[j]] = reached
                        heapq.heappush(heap, (reached, out_idx[j]))
    cut_units = np.empty(1024, np.int64)
    used = 0
    pointer = [0]
    bound = 0.0
    complete = True
    if value[goal] == INFINITE:
        return INFINITE, cut_units[:0], np.array(pointer), value, True
    zone = np.zeros(nodes, np.bool_)
    seen = np.zeros(nodes, np.bool_)
    stack = np.empty(nodes, np.int64)
    cuts = 0
    while value[goal] > zero:
        if cuts >= limit or bound >= enough:
            complete = False
            break
        zone[:] = False
        zone[goal] = True
        stack[0] = goal
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            for k in range(pro_ptr[node], pro_ptr[node + 1]):
                u = pro_idx[k]
                if left[u] <= zero:
                    n = supporter[u]
                    if n >= 0 and not zone[n]:
                        zone[n] = True
                        stack[top] = n
                        top += 1
        seen[:] = False
        seen[0] = True
        stack[0] = 0
        top = 1
        first = used
        least = INFINITE
        while top > 0:
            top -= 1
            node = stack[top]
            for k in range(con_ptr[node], con_ptr[node + 1]):
                u = con_idx[k]
                if supporter[u] != node:
                    continue
                hit = False
                for j in range(out_ptr[u], out_ptr[u + 1]):
                    if zone[out_idx[j]]:
                        hit = True
                        break
                if hit:
                    if used == len(cut_units):
                        bigger = np.empty(2 * used, np.int64)
                        bigger[:used] = cut_units
                        cut_units = bigger
                    cut_units[used] = u
                    used += 1
                    least = min(least, left[u])
                else:
                    for j in range(out_ptr[u], out_ptr[u + 1]):
                        n = out_idx[j]
                        if not seen[n]:
                            seen[n] = True
                            stack[top] = n
                            top += 1
        if used == first:
            break
        cuts += 1
        pointer.append(used)
        bound += least
        heap.clear()
        for c in range(first, used):
            u = cut_units[c]
            left[u] -= least
            reached = value[supporter[u]] + left[u]
            for j in range(out_ptr[u], out_ptr[u + 1]):
                n = out_idx[j]
                if reached < value[n] - 1e-12:
                    value[n] = reached
                    heapq.heappush(heap, (reached, n))
        while len(heap) > 0:
            distance, node = heapq.heappop(heap)
            if distance > value[node]:
                continue
            for k in range(con_ptr[node], con_ptr[node + 1]):
                u = con_idx[k]
                if supporter[u] != node:
                    continue
                best = node
                most = distance
                for j in range(in_ptr[u], in_ptr[u + 1]):
                    if value[in_idx[j]] > most:
                        best = in_idx[j]
                        most = value[in_idx[j]]
                supporter[u] = best
                reached = most + left[u]
                for j in range(out_ptr[u], out_ptr[u + 1]):
                    n = out_idx[j]
                    if reached < value[n] - 1e-12:
                        value[n] = reached
                        heapq.heappush(heap, (reached, n))
    return bound, cut_units[:used].copy(), np.array(pointer), value, complete


@numba.njit(cache=True)
def tree_plan(in_ptr, in_idx, out_ptr, out_idx, con_ptr, con_idx, start, wanted, cost):
    """Knuth on the whole network from the nodes of `start`: the unit that makes each node, until all wanted are made."""
    units, nodes = len(in_ptr) - 1, len(con_ptr) - 1
    missing = np.empty(units, np.int64)
    total = cost.copy()
    maker = np.full(nodes, -1, np.int64)
    settled = start.copy()
    heap = [(0.0, -1, -1)]
    heap.clear()
    for u in range(units):
        count = 0
        for k in range(in_ptr[u], in_ptr[u + 1]):
            if not start[in_idx[k]]:
                count += 1
        missing[u] = count
        if count == 0:
            for j in range(out_ptr[u], out_ptr[u + 1]):
                if not start[out_idx[j]]:
                    heapq.heappush(heap, (total[u], out_idx[j], u))
    left = 0
    target = np.zeros(nodes, np.bool_)
    for n in wanted:
        if not start[n] and not target[n]:
            target[n] = True
            left += 1
    while len(heap) > 0 and left > 0:
        distance, node, unit = heapq.heappop(heap)
        if settled[node]:
            continue
        settled[node] = True
        maker[node] = unit
        if target[node]:
            left -= 1
        for k in range(con_ptr[node], con_ptr[node + 1]):
            other = con_idx[k]
            total[other] += distance
            missing[other] -= 1
            if missing[other] == 0:
                for j in range(out_ptr[other], out_ptr[other + 1]):
                    if not settled[out_idx[j]]:
                        heapq.heappush(heap, (total[other], out_idx[j], other))
    return maker, left == 0


@numba.njit(cache=True)
def needed(in_ptr, in_idx, pro_ptr, pro_idx, start, wanted, allowed):
    """Units behind the wanted nodes, not looking behind start nodes; and the nodes that they or the goals need."""
    units, nodes = len(in_ptr) - 1, len(pro_ptr) - 1
    found = np.zeros(units, np.bool_)
    used = np.zeros(nodes, np.bool_)
    stack = np.empty(nodes, np.int64)
    top = 0
    for n in wanted:
        if not start[n] and not used[n]:
            used[n] = True
            stack[top] = n
            top += 1
    while top > 0:
        top -= 1
        node = stack[top]
        for k in range(pro_ptr[node], pro_ptr[node + 1]):
            u = pro_idx[k]
            if allowed[u] and not found[u]:
                found[u] = True
                for j in range(in_ptr[u], in_ptr[u + 1]):
                    n = in_idx[j]
                    if not start[n] and not used[n]:
                        used[n] = True
                        stack[top] = n
                        top += 1
    return found, used


@numba.njit(cache=True)
def fired(in_ptr, in_idx, out_ptr, out_idx, con_ptr, con_idx, start, allowed):
    """Units among the allowed that can fire from the start, and all nodes reached."""
    units = len(in_ptr) - 1
    missing = np.zeros(units, np.int64)
    done = np.zeros(units, np.bool_)
    reached = start.copy()
    queue = np.empty(units, np.int64)
    head = 0
    tail = 0
    for u in range(units):
        if allowed[u]:
            for k in range(in_ptr[u], in_ptr[u + 1]):
                if not reached[in_idx[k]]:
                    missing[u] += 1
            if missing[u] == 0:
                queue[tail] = u
                tail += 1
    # `missing` was counted against the start only, so nodes are marked as reached when their maker leaves the queue.
    while head < tail:
        u = queue[head]
        head += 1
        done[u] = True
        for j in range(out_ptr[u], out_ptr[u + 1]):
            n = out_idx[j]
            if not reached[n]:
                reached[n] = True
                for k in range(con_ptr[n], con_ptr[n + 1]):
                    other = con_idx[k]
                    if allowed[other]:
                        missing[other] -= 1
                        if missing[other] == 0:
                            queue[tail] = other
                            tail += 1
    return done, reached
