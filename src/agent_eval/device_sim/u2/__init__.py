"""The phone as uiautomator2 sees it."""
