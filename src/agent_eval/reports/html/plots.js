// Draws the figures of the summary in the colours that the page has at the moment.

let plotsDrawn = false;

function drawPlots() {
  plotsDrawn = true;
  const style = getComputedStyle(document.body);
  const [ink, line, ground] = ["--ink", "--line", "--ground"].map((name) => style.getPropertyValue(name).trim());
  const axis = { gridcolor: line, linecolor: line, tickcolor: line, automargin: false, fixedrange: true };
  for (const { id, figure } of RUN.plots) {
    const data = figure.data.map((trace) => (trace.type === "sankey" ? { ...trace, textfont: { color: ink, shadow: "none" } } : trace));
    const layout = {
      ...figure.layout,
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      font: { color: ink, family: style.fontFamily, size: 13 },
      xaxis: { ...figure.layout.xaxis, ...axis },
      yaxis: { ...figure.layout.yaxis, ...axis },
      hoverlabel: { bgcolor: ground, bordercolor: line, font: { color: ink } },
      dragmode: false,
    };
    Plotly.react(id, data, layout, { displayModeBar: false, responsive: true, doubleClick: false, showTips: false });
  }
}
