"""Word lists of apps: each English text with its German and Chinese one. Knows no app."""

from __future__ import annotations

from collections.abc import Mapping

Words = Mapping[str, tuple[str, str]]
"""English to German and Chinese."""


def tables(*lists: Words) -> dict[str, dict[str, str]]:
    """Return what ``App.strings`` takes, of several word lists; a later one wins."""
    return {
        locale: {english: pair[place] for words in lists for english, pair in words.items()}
        for place, locale in enumerate(("de", "zh"))
    }


EVERYWHERE: Words = {
    "Add": ("Hinzufügen", "添加"),
    "All": ("Alle", "全部"),
    "Cancel": ("Abbrechen", "取消"),
    "Clear": ("Leeren", "清除"),
    "Copied": ("Kopiert", "已复制"),
    "Copy": ("Kopieren", "复制"),
    "Delete": ("Löschen", "删除"),
    "Discard": ("Verwerfen", "舍弃"),
    "Discard changes?": ("Änderungen verwerfen?", "要舍弃更改吗？"),
    "Done": ("Fertig", "完成"),
    "Edit": ("Bearbeiten", "修改"),
    "Messages": ("SMS/MMS", "短信"),
    "More options": ("Weitere Optionen", "更多选项"),
    "Navigate up": ("Nach oben", "向上导航"),
    "Next month": ("Nächster Monat", "下个月"),
    "OK": ("OK", "确定"),
    "Previous month": ("Vorheriger Monat", "上个月"),
    "Save": ("Speichern", "保存"),
    "Search": ("Suchen", "搜索"),
    "Select all": ("Alle auswählen", "全选"),
    "Share": ("Teilen", "分享"),
    "Share with": ("Teilen über", "分享方式"),
    "Today": ("Heute", "今天"),
    "Tomorrow": ("Morgen", "明天"),
    "Type in a valid time": ("Gültige Uhrzeit eingeben", "请输入有效的时间"),
    "Type in time": ("Uhrzeit eingeben", "输入时间"),
    "Yesterday": ("Gestern", "昨天"),
    "hour": ("Stunde", "小时"),
    "minute": ("Minute", "分钟"),
    "{count} selected": ("{count} ausgewählt", "已选择 {count} 项"),
}
"""Words of the dialogs, the selection bar and the sharing sheet, and a few that every app has."""
