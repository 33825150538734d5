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
    "Close": ("Schließen", "关闭"),
    "Copied": ("Kopiert", "已复制"),
    "Copy": ("Kopieren", "复制"),
    "Date": ("Datum", "日期"),
    "Delete": ("Löschen", "删除"),
    "Description": ("Beschreibung", "说明"),
    "Discard": ("Verwerfen", "舍弃"),
    "Discard changes?": ("Änderungen verwerfen?", "要舍弃更改吗？"),
    "Done": ("Fertig", "完成"),
    "Edit": ("Bearbeiten", "修改"),
    "Messages": ("SMS/MMS", "短信"),
    "More options": ("Weitere Optionen", "更多选项"),
    "Name": ("Name", "名称"),
    "Navigate up": ("Nach oben", "向上导航"),
    "Next month": ("Nächster Monat", "下个月"),
    "Nothing here": ("Nichts vorhanden", "暂无内容"),
    "OK": ("OK", "确定"),
    "Pause": ("Pause", "暂停"),
    "Play": ("Abspielen", "播放"),
    "Previous month": ("Vorheriger Monat", "上个月"),
    "Rename": ("Umbenennen", "重命名"),
    "Save": ("Speichern", "保存"),
    "Saved": ("Gespeichert", "已保存"),
    "Search": ("Suchen", "搜索"),
    "Select all": ("Alle auswählen", "全选"),
    "Share": ("Teilen", "分享"),
    "Share with": ("Teilen über", "分享方式"),
    "This name is not possible": ("Dieser Name ist nicht möglich", "无法使用此名称"),
    "Title": ("Titel", "标题"),
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

FILE_WORDS: Words = {
    "An item with this name already exists": ("Ein Element mit diesem Namen existiert bereits", "已有同名项目"),
    "By name": ("Nach Name", "按名称"),
    "Delete {count} items?": ("{count} Elemente löschen?", "要删除 {count} 项吗？"),
    "Delete \u201c{name}\u201d?": ("„{name}“ löschen?", "要删除“{name}”吗？"),
    "Folder": ("Ordner", "文件夹"),
    "Info": ("Informationen", "信息"),
    "Location": ("Speicherort", "位置"),
    "Move to\u2026": ("Verschieben nach\u2026", "移动到\u2026"),
    "New folder": ("Neuer Ordner", "新建文件夹"),
    "Sort by": ("Sortieren nach", "排序方式"),
    "Text": ("Text", "文本"),
    "Type": ("Typ", "类型"),
}
"""Words of the apps that show files and folders."""
