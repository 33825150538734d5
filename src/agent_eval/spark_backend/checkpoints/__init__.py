"""What a checkpoint folder says and holds: found, checked, mapped, written. Knows no model code and no builds."""
