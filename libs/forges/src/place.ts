/** Puts facts where they belong: at the execution that they are about, or aside until there is one. */
import { type PlainDb } from '@muster/database';
import { ApiError, type ForgeOutcome, inside, type Trust } from '@muster/registry';
import { type PerformAsSystem } from '@muster/runtime';
import { findExecutions, type FoundExecution } from './data/find-execution.ts';
import { parkFact } from './data/parked.ts';
import { findChecked, headOfPull, insertCheck, notePull } from './data/pulls.ts';
import { type LinkedRepository } from './data/repositories.ts';
import { verdictOf } from './rules/checks.ts';
import { type Check, type Fact, factKey } from './rules/fact.ts';
import { waitingKeys } from './rules/keys.ts';

export interface Placing {
  readonly db: PlainDb;
  readonly perform: PerformAsSystem;
  readonly repository: LinkedRepository;
  readonly trust: Trust;
  /** When it came: a forge's clock that is far ahead of ours is not believed. */
  readonly receivedAt: string;
}

type Observation = Parameters<typeof record>[2];

const outcomeOf = (
  kind: ForgeOutcome['kind'],
  result: ForgeOutcome['result'],
  executionId: string | null = null,
  reason: string | null = null,
): ForgeOutcome => ({ kind, executionId, result, reason });

/** What a story's key alone may do: the pull request is linked, and that is all. */
const linking: ReadonlySet<Fact['kind']> = new Set(['pr_opened', 'pr_updated', 'pr_reopened']);
const ofHead: ReadonlySet<Fact['kind']> = new Set(['branch_pushed', ...linking]);

/** A fact is taken for that of another pull request, or one that goes elsewhere, with what is said of it. */
function isElsewhere(
  { way, handedIn, base }: FoundExecution,
  fact: Fact,
  { defaultBranch }: LinkedRepository,
): string | undefined {
  if (fact.url === null) return undefined;
  if (way !== 'handedIn' && handedIn !== null && handedIn !== fact.url) {
    return 'the work was handed in with another pull request';
  }
  const wanted = base ?? defaultBranch ?? fact.defaultBranch;
  return fact.base === null || wanted === null || fact.base === wanted
    ? undefined
    : `it goes into ${fact.base}, and the work goes into ${wanted}`;
}

const millisAhead = 4 * 60_000;
const notAhead = (at: string, receivedAt: string): string =>
  Date.parse(at) > Date.parse(receivedAt) + millisAhead ? receivedAt : at;

/** Undefined where it was recorded, or was before; else why it cannot be. */
async function record(
  { perform, repository, trust, receivedAt }: Placing,
  executionId: string,
  observation: {
    readonly kind: Fact['kind'];
    readonly at: string;
    readonly dedupeKey: string;
    readonly ref?: string | null;
    readonly sha?: string | null;
    readonly number?: number | null;
    readonly url?: string | null;
  },
  { rev, trust: own = trust }: { readonly rev?: number; readonly trust?: Trust } = {},
) {
  const { at, ref, sha, number, url, ...rest } = observation;
  const said = {
    ...rest,
    observedAt: notAhead(at, receivedAt),
    ...(ref != null && ref.length <= 255 && { ref }),
    ...(sha != null && { sha }),
    ...(number != null && { number }),
    ...(url != null && { url }),
  };
  return perform(
    inside.observeForge,
    { id: executionId, projectId: repository.projectId },
    { executionId, observation: said, trust: own, ...(rev !== undefined && { rev }) },
  );
}

const isArchived = (error: unknown): boolean =>
  error instanceof ApiError && error.details.reason === 'archived';

/** Who works on them hears that they have to be told apart; in an archived project no one does. */
async function tellDoubt(
  { perform, repository: { projectId } }: Placing,
  { kind, branch: ref, number, url }: Fact,
  executionIds: string[],
): Promise<void> {
  const params = { projectId, executionIds, fact: { kind, ref, number, url } };
  await perform(inside.tellForgeDoubt, { id: projectId, projectId }, params).catch((error: unknown) => {
    if (!isArchived(error)) throw error;
  });
}

/** Records a fact of the one execution that it is about, or puts it aside. */
export async function placeFact(placing: Placing, fact: Fact): Promise<ForgeOutcome> {
  const { db, repository, trust } = placing;
  const { kind } = fact;
  const found = await findExecutions(db, repository, fact);
  const [execution] = found;
  const park = (): void => {
    const keys = waitingKeys(fact);
    if (keys.length > 0) db.later(parkFact(repository.id, fact, keys, trust));
  };
  if (execution === undefined) {
    park();
    return outcomeOf(kind, 'parked', null, 'no execution is known by it yet');
  }
  if (found.length > 1) {
    const ids = found.map(({ id }) => id);
    await tellDoubt(placing, fact, ids);
    const reason = `it could be about any of ${found.length} executions: ${ids.join(', ')}`;
    return outcomeOf(kind, 'noted', null, reason);
  }
  const elsewhere = isElsewhere(execution, fact, repository);
  if (elsewhere !== undefined) return outcomeOf(kind, 'noted', execution.id, elsewhere);
  const isLink = execution.way === 'storyKey';
  // It may be handed in yet, and then it is more than a link.
  if (isLink) park();
  if (isLink && !linking.has(kind)) {
    return outcomeOf(kind, 'noted', execution.id, 'the key of a story alone links, and completes nothing');
  }
  const { branch: ref, sha, number, url, at } = fact;
  // Of one that only names the story, the head is not that of its work.
  const observation: Observation = {
    ...{ kind, at, dedupeKey: factKey(fact), number, url },
    ...(isLink ? {} : { ref, sha }),
  };
  try {
    const { recorded, execution: after } = await record(placing, execution.id, observation);
    if (isLink) return outcomeOf(kind, 'linked', execution.id);
    const state = after.git?.pullRequest?.state ?? 'open';
    const isOpen = state === 'open' || state === 'draft';
    const head = ofHead.has(kind) && sha !== null ? { sha, at, key: factKey(fact) } : null;
    const pull = { executionId: execution.id, repositoryId: repository.id, isOpen, head };
    const other = await notePull(db, pull, fact);
    if (other !== null) await recordChecks(placing, other);
    return outcomeOf(kind, recorded ? 'recorded' : 'repeated', execution.id);
  } catch (error) {
    if (!isArchived(error)) throw error;
    return outcomeOf(kind, 'noted', execution.id, 'the project is archived');
  }
}

/** Tells the executions whose head a commit is what its checks come to. */
async function recordChecks(placing: Placing, sha: string): Promise<ForgeOutcome[]> {
  const { db, repository } = placing;
  // What was just noted counts.
  db.flush();
  const { words, executionIds } = await findChecked(db, repository.id, sha);
  const verdict = verdictOf(words);
  if (verdict === undefined) return [];
  const { kind, at, rev, trust } = verdict;
  const outcomes: ForgeOutcome[] = [];
  for (const executionId of executionIds) {
    const dedupeKey = [kind, sha, at, rev].join(' ');
    const { recorded } = await record(placing, executionId, { kind, at, sha, dedupeKey }, { rev, trust });
    outcomes.push(outcomeOf(kind, recorded ? 'recorded' : 'repeated', executionId));
  }
  return outcomes;
}

/** Notes a word about a check; where the checks of a head are decided by it, that is recorded. */
export async function placeCheck(placing: Placing, check: Check): Promise<ForgeOutcome[]> {
  const { db, repository, trust } = placing;
  const { trialOf } = check;
  const head = trialOf === undefined ? undefined : await headOfPull(db, repository.id, trialOf);
  const sha = head ?? check.sha;
  db.later(insertCheck(repository.id, { ...check, sha }, trust));
  try {
    const outcomes = await recordChecks(placing, sha);
    return outcomes.length > 0 ? outcomes : [outcomeOf('check', 'noted')];
  } catch (error) {
    if (!isArchived(error)) throw error;
    return [outcomeOf('check', 'noted', null, 'the project is archived')];
  }
}
