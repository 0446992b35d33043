package dev.norn.bobc;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** The report's pictures. */
final class Plots {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 560;
    private static final Color[] COLORS = {new Color(0x1b6ca8), new Color(0xe07b39), new Color(0x3a9d5d),
            new Color(0x8e5aa8), new Color(0x7f7f7f)};

    private Plots() {}

    /** A picture. */
    interface Drawing {
        byte[] png() throws IOException;
    }

    /** How the upright axis goes. */
    enum Axis {
        LINEAR, LOGARITHMIC
    }

    private static void style(AxesChartStyler styler, Axis axis) {
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setYAxisLogarithmic(axis == Axis.LOGARITHMIC);
        styler.setSeriesColors(COLORS);
    }

    /** Bars side by side for each name. A value may be missing: NaN. On a logarithmic axis values are more than 0. */
    static Drawing bars(String title, String unit, Axis axis, List<String> names, Map<String, List<Double>> series) {
        return () -> {
            CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title)
                    .yAxisTitle(unit).build();
            style(chart.getStyler(), axis);
            chart.getStyler().setXAxisLabelRotation(names.size() > 5 ? 30 : 0);
            if (axis == Axis.LOGARITHMIC) {
                double least = series.values().stream().flatMap(List::stream)
                        .filter(value -> !value.isNaN()).mapToDouble(Double::doubleValue).min().orElse(1);
                chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))));
            }
            series.forEach((name, values) -> chart.addSeries(name, names,
                    Arrays.asList(values.stream().map(value -> value.isNaN() ? null : value).toArray(Double[]::new))));
            return png(chart);
        };
    }

    /** Points joined by lines. */
    static Drawing lines(String title, String across, String unit, Axis axis, Map<String, double[][]> series) {
        return () -> {
            XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(title).xAxisTitle(across)
                    .yAxisTitle(unit).build();
            style(chart.getStyler(), axis);
            chart.getStyler().setMarkerSize(10);
            chart.getStyler().setXAxisMin(0.0);
            chart.getStyler().setXAxisDecimalPattern("0.##");
            if (axis == Axis.LINEAR) {
                chart.getStyler().setYAxisMin(0.0);
                chart.getStyler().setYAxisDecimalPattern("#,##0.##");
            }
            series.forEach((name, points) -> chart.addSeries(name, points[0], points[1]));
            return png(chart);
        };
    }

    private static byte[] png(org.knowm.xchart.internal.chartpart.IChart chart) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BitmapEncoder.saveBitmap(chart, bytes, BitmapEncoder.BitmapFormat.PNG);
        return bytes.toByteArray();
    }
}
