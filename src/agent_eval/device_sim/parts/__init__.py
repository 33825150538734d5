"""What a phone is made of; each part holds its own state and reaches the others through the phone."""
