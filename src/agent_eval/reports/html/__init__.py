"""A run as one HTML file that works offline: summary, episodes, trajectories, two builds side by side."""

from agent_eval.reports.html.page import PAGE_NAME, Advice, html_page

__all__ = ["PAGE_NAME", "Advice", "html_page"]
