"""One valid plan and two invalid ones, with the reasons: what a checker says is fit for a person and for a model."""

import handrail as hr

home = hr.Domain.load(hr.domains.path("home"))
scene = hr.load_scene(home)


def tell(title: str, plan: hr.Plan) -> None:
    verdict = hr.verdict(plan, scene.state)
    print(f"{title}: {'accepted' if verdict.accepted else 'refused'}; not checked: {', '.join(verdict.unchecked)}")
    for reason in verdict.reasons:
        print(f"  {reason.code}: {reason.sentence}")
        if reason.hint:
            print(f"  hint: {reason.hint}")


fetch = [
    ("pick", "robot_1", "hand_1", "water"),
    ("navigate_to", "robot_1", "table"),
    ("hand_over", "robot_1", "hand_1", "water", "person_1"),
]
tell("Valid", hr.Plan.of(*fetch))
tell("Invalid: the hand is not free", hr.Plan.of(fetch[0], ("pick", "robot_1", "hand_1", "milk")))
tell(
    "Invalid: a rule of the house",
    hr.Plan.of(
        ("navigate_to", "robot_1", "drawer"),
        ("open", "robot_1", "hand_1", "drawer"),
        ("pick", "robot_1", "hand_1", "knife"),
        ("navigate_to", "robot_1", "table"),
    ),
)
