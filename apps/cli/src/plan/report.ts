/** The words in which the command line shows plans. */
import { type ResultOf } from '@muster/contract';
import { type registry } from '@muster/registry';
import { formatTable } from '@muster/terminal';

type ApplyResult = ResultOf<typeof registry.plans.apply>;
type PlanResult = ResultOf<typeof registry.plans.get>;

const signs = { create: '+', update: '~', unchanged: '=', keep: '!', remove: '-' } as const;
const verbs = {
  create: 'created',
  update: 'updated',
  unchanged: 'unchanged',
  keep: 'kept as on the board',
  remove: 'removed',
} as const;

/** Returns a line for each change, with the values that the board keeps, and a summary. */
export function changeLines(
  { plan, changes, waves, criticalPath }: ApplyResult,
  titles: ReadonlyMap<string, string>,
  isPreview: boolean,
): string[] {
  const shown = changes.filter(({ action, kept }) => action !== 'unchanged' || kept.length > 0);
  const rows = shown.map(({ ref, action, key, fields }) => [
    ...[signs[action], ref, key ?? '', titles.get(ref) ?? ''],
    action === 'update' ? fields.join(', ') : '',
  ]);
  const kept = shown.flatMap(({ ref, kept: values }) =>
    values.map(({ field, message }) => `! ${ref} ${field}: ${message}`),
  );
  const counts = Object.entries(verbs).flatMap(([action, verb]) => {
    const count = changes.filter((change) => change.action === action).length;
    return count === 0 ? [] : [`${count} ${verb}`];
  });
  return [
    ...(rows.length === 0 ? [] : formatTable(['', 'REF', 'KEY', 'TITLE', 'FIELDS'], rows)),
    ...kept,
    `Plan ${plan.ref}: ${counts.length === 0 ? 'no items' : counts.join(', ')}.`,
    ...orderLines(waves, criticalPath),
    ...(isPreview ? ['Nothing was changed.'] : []),
  ];
}

const orderLines = (waves: readonly (readonly string[])[], criticalPath: readonly string[]): string[] => [
  ...waves.map((refs, index) => `Wave ${index + 1}: ${refs.join(', ')}`),
  ...(criticalPath.length === 0 ? [] : [`Critical path: ${criticalPath.join(' → ')}`]),
];

/** Returns the lines that show a plan with the state of its stories. */
export const planLines = ({ items, waves, criticalPath, progress }: PlanResult): string[] => [
  ...formatTable(
    ['REF', 'KEY', 'STATUS', 'TITLE', 'WAITS FOR'],
    items.map(({ ref, key, status, title, dependsOn }) => [
      ...[ref, key ?? '', status ?? 'deleted', title ?? '', dependsOn.join(', ')],
    ]),
  ),
  `${progress.done} of ${progress.total} done.`,
  ...orderLines(waves, criticalPath),
];
