"""The German and Chinese words of the clock; those of its cities stand with the cities."""

from __future__ import annotations

from agent_eval.device_sim.strings import Words

STRINGS: Words = {
    "AM": ("AM", "上午"),
    "Add 1 minute": ("1 Minute hinzufügen", "加 1 分钟"),
    "Add alarm": ("Wecker hinzufügen", "添加闹钟"),
    "Add label": ("Label hinzufügen", "添加标签"),
    "Alarm": ("Wecker", "闹钟"),
    "Alarm deleted": ("Wecker gelöscht", "闹钟已删除"),
    "Alarm set for {time}": ("Wecker gestellt auf {time}", "闹钟已设为 {time}"),
    "Cities": ("Städte", "城市"),
    "Clock": ("Uhr", "时钟"),
    "Collapse alarm": ("Wecker minimieren", "收起闹钟"),
    "Dismiss": ("Schließen", "关闭"),
    "Ends at {time}": ("Endet um {time}", "{time} 结束"),
    "Every day": ("Täglich", "每天"),
    "Expand alarm": ("Wecker maximieren", "展开闹钟"),
    "Label": ("Label", "标签"),
    "Lap": ("Runde", "分段"),
    "Missed alarm": ("Verpasster Wecker", "错过的闹钟"),
    "No Alarms": ("Keine Wecker", "没有闹钟"),
    "No alarm is ringing": ("Kein Wecker klingelt", "没有正在响的闹钟"),
    "Not scheduled": ("Nicht geplant", "未设定"),
    "PM": ("PM", "下午"),
    "Pause": ("Pausieren", "暂停"),
    "Reset": ("Zurücksetzen", "重置"),
    "Ringtone Default ({name})": ("Klingelton Standard ({name})", "铃声 默认 ({name})"),
    "Running": ("Läuft", "正在计时"),
    "Search for a city": ("Stadt suchen", "搜索城市"),
    "Snooze": ("Schlummern", "暂停再响"),
    "Start": ("Starten", "开始"),
    "Stop": ("Stoppen", "停止"),
    "Stopwatch": ("Stoppuhr", "秒表"),
    "Time\u2019s up": ("Zeit abgelaufen", "时间到"),
    "Timer": ("Timer", "定时器"),
    "Vibrate": ("Vibrieren", "振动"),
    "{h}h {m}m {s}s": ("{h} Std. {m} Min. {s} Sek.", "{h}时 {m}分 {s}秒"),
}
