/** Issues of GitHub: what `gh issue list --json …` prints, and what the REST API answers. */
import { counted } from '@muster/terminal';
import { z } from 'zod';
import { UsageError } from '../failures.ts';
import { type Row, type Source } from './rows.ts';

const Issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string().default('open'),
  /** `gh` writes it in capitals, the API with a low dash in its name. */
  stateReason: z.string().nullish(),
  state_reason: z.string().nullish(),
  labels: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).default([]),
  url: z.string().nullish(),
  html_url: z.string().nullish(),
  /** The API lists pull requests among the issues. */
  pull_request: z.unknown().optional(),
});
type Issue = z.infer<typeof Issue>;

function statusOfIssue({ state, stateReason, state_reason }: Issue): 'backlog' | 'done' | 'canceled' {
  if (state.toLowerCase() === 'open') return 'backlog';
  const reason = (stateReason ?? state_reason ?? '').toLowerCase();
  return ['not_planned', 'duplicate'].includes(reason) ? 'canceled' : 'done';
}

/** `acme/web#17`; where no address says of which repository, the file stands for it. */
function externalIdOf({ number, url, html_url }: Issue, file: string): { externalId: string; url?: string } {
  const address = html_url ?? url ?? undefined;
  const [, repository] =
    /^https?:\/\/[^/]+\/(?:repos\/)?([^/]+\/[^/]+)\/issues\/\d+$/.exec(address ?? '') ?? [];
  return {
    externalId: `${repository ?? file}#${number}`,
    ...(address !== undefined && { url: address }),
  };
}

function rowOf(issue: Issue, file: string): Row {
  const { number, title, body, labels, state } = issue;
  const names = labels.map((label) => (typeof label === 'string' ? label : label.name));
  return {
    place: `issue ${number}`,
    story: {
      title,
      status: statusOfIssue(issue),
      labels: names,
      ...(body !== null &&
        body !== undefined &&
        body !== '' && { description: body.replaceAll('\r\n', '\n') }),
    },
    origin: { provider: 'github', ...externalIdOf(issue, file), state: state.toLowerCase() },
  };
}

export function readIssues(text: string, file: string): Source {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageError('the file is no JSON');
  }
  const parsed = z.array(Issue).safeParse(json);
  if (!parsed.success) {
    throw new UsageError(`the file is no list of issues:\n${z.prettifyError(parsed.error)}`);
  }
  const issues = parsed.data.filter(
    ({ pull_request }) => pull_request === undefined || pull_request === null,
  );
  const left = parsed.data.length - issues.length;
  return {
    // GitHub lists the newest first; a board goes on from what was there first.
    rows: issues.toSorted((a, b) => a.number - b.number).map((issue) => rowOf(issue, file)),
    notes: left === 0 ? [] : [`Left out: ${counted(left, 'pull request')}.`],
  };
}
