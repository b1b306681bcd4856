"""The embedded physical world, on MuJoCo."""
