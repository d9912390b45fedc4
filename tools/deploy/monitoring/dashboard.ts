/** The Grafana dashboard. Written by `npm run generate` to dashboard.json beside it, which Grafana imports. */
/* oxlint-disable typescript/no-deprecated -- the classic model: each Grafana in use imports it, the newer one only the newest */
import { VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  type Panel,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { type PanelPlan, plan } from './panels.ts';

/** Grafana divides a row into so many columns. */
const columns = 24;
const heights = { number: 4, curve: 8 };
const letter = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

type Builder = StatBuilder | TimeseriesBuilder;

const kindOf = ({ redFrom }: PanelPlan): Builder =>
  redFrom === undefined
    ? new TimeseriesBuilder()
        .height(heights.curve)
        .span(columns / 2)
        .min(0)
        .legend(new VizLegendOptionsBuilder().showLegend(true))
    : new StatBuilder()
        .height(heights.number)
        .span(columns / 6)
        .thresholds(
          new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
            { value: null, color: 'green' },
            { value: redFrom, color: 'red' },
          ]),
        );

/** The dashboard as Grafana imports it. */
export function dashboard(): Dashboard {
  const board = new DashboardBuilder('Muster')
    .uid('muster')
    .description('Whether coordination is healthy, and where it is not')
    .tags(['muster'])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  let id = 0;
  for (const [title, panels] of plan) {
    board.withRow(new RowBuilder(title).id((id += 1)));
    for (const panel of panels) {
      const { tells, unit, queries } = panel;
      const built: Builder = kindOf(panel)
        .id((id += 1))
        .title(panel.title)
        .description(tells)
        .unit(unit)
        // A value that Grafana itself fills in.
        .datasource({ type: 'prometheus', uid: '${datasource}' })
        .targets(
          queries.map(({ expr, legend = '' }, index) =>
            new DataqueryBuilder().refId(letter(index)).expr(expr).legendFormat(legend),
          ),
        );
      board.withPanel(built);
    }
  }
  return board.build();
}

/** Every panel, with the queries that it asks Prometheus. */
export const panelsOf = ({
  panels = [],
}: Dashboard): { readonly title: string; readonly queries: string[] }[] =>
  panels
    .filter((panel): panel is Panel => 'targets' in panel)
    .map(({ title = '', targets = [] }) => ({
      title,
      queries: targets.map((target) => ('expr' in target ? String(target.expr) : '')),
    }));
