"""How close a build's next-token distribution is to the reference's, on texts that both are made to follow."""
