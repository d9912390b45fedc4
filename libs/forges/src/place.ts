/** Puts facts where they belong: at the execution that they are about, or aside until there is one. */
import { type PlainDb } from '@muster/driver';
import { ApiError, canonicalPullUrl, type ForgeOutcome, inside, type Trust } from '@muster/registry';
import { type PerformAsSystem } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { type Candidate, findCandidates } from './data/find-execution.ts';
import { parkFact } from './data/parked.ts';
import { findChecked, headOfPull, insertCheck, notePull } from './data/pulls.ts';
import { addressesOfProject, type LinkedRepository } from './data/repositories.ts';
import { verdictOf } from './rules/checks.ts';
import { type Check, type Fact, factKey } from './rules/fact.ts';
import { waitingKeys } from './rules/keys.ts';
import { isReplacement, matchesOf } from './rules/match.ts';

export interface Placing {
  readonly db: PlainDb;
  readonly perform: PerformAsSystem;
  readonly repository: LinkedRepository;
  readonly trust: Trust;
  /** It is the forge's answer to a question, so the head that it names is the present one. */
  readonly isAnswer: boolean;
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

const canonicalUrl = (repository: LinkedRepository, url: string): string =>
  canonicalPullUrl([repository], url, null) ?? url;

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
  {
    rev,
    before,
    reviewer,
    trust: own = trust,
  }: {
    readonly rev?: number;
    readonly before?: string | null;
    readonly reviewer?: string | null;
    readonly trust?: Trust;
  } = {},
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
    {
      ...{ executionId, observation: said, trust: own },
      ...(rev !== undefined && { rev }),
      ...(before != null && { before }),
      ...(reviewer != null && { reviewer }),
    },
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

/** Records a fact of the work that it is about, or puts it aside. */
export async function placeFact(placing: Placing, said: Fact): Promise<ForgeOutcome[]> {
  const { db, repository, trust } = placing;
  const fact = said.url === null ? said : { ...said, url: canonicalUrl(repository, said.url) };
  const { kind } = fact;
  const [candidates, links] = await Promise.all([
    findCandidates(db, repository, fact),
    addressesOfProject(db, repository.projectId),
  ]);
  const { matches, others, waits, isDoubtful } = matchesOf(candidates, { fact, repository, links });
  const noted = others.map(({ id, reason }) => outcomeOf(kind, 'noted', id, reason));
  // A story's key only links: the fact may be more than a link once the work is handed in.
  if (waits || matches.some(({ way }) => way === 'storyKey')) {
    const keys = waitingKeys(fact);
    if (keys.length > 0) db.later(parkFact(repository.id, fact, keys, trust));
  }
  if (matches.length === 0 && noted.length === 0)
    return [outcomeOf(kind, 'parked', null, 'no execution is known by it yet')];
  if (isDoubtful) {
    const ids = matches.map(({ id }) => id);
    await tellDoubt(placing, fact, ids);
    return [
      outcomeOf(kind, 'noted', null, `it could be about any of ${ids.length} executions: ${ids.join(', ')}`),
    ];
  }
  const outcomes: ForgeOutcome[] = [];
  // By id, as every transaction locks them.
  for (const match of matches.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    outcomes.push(await recordFact(placing, match, fact));
  return [...outcomes, ...noted];
}

/** Records a fact of one execution. */
async function recordFact(placing: Placing, match: Candidate, fact: Fact): Promise<ForgeOutcome> {
  const { db, repository } = placing;
  const { branch: ref, sha, before, reviewer, number, url, at, kind } = fact;
  const isLink = match.way === 'storyKey';
  if (isLink && !linking.has(kind)) {
    return outcomeOf(kind, 'noted', match.id, 'the key of a story alone links, and completes nothing');
  }
  // Of one that only names the story, the head is not that of its work.
  const observation: Observation = {
    // An answer decides between heads of one time, also where the same was delivered before.
    ...{ kind, at, dedupeKey: factKey(fact, placing.isAnswer && ofHead.has(kind)), number, url },
    ...(isLink ? {} : { ref, sha }),
  };
  try {
    const { recorded, execution: after } = await record(placing, match.id, observation, { before, reviewer });
    if (isLink) return outcomeOf(kind, 'linked', match.id);
    const state = after.git?.pullRequest?.state ?? 'open';
    const isOpen = state === 'open' || state === 'draft';
    const headSha = after.git?.headSha ?? null;
    const head = ofHead.has(kind) && sha !== null && headSha !== null ? { sha: headSha, at } : null;
    const replaces = isReplacement(match, fact) ? (match.handedIn?.number ?? null) : null;
    const pull = { executionId: match.id, repositoryId: repository.id, isOpen, replaces, head };
    const other = await notePull(db, pull, fact);
    if (other !== null) await recordChecks(placing, other);
    if (recorded && isTie(match, fact)) db.later(outboxRow('forge.ask', { executionId: match.id }));
    return outcomeOf(kind, recorded ? 'recorded' : 'repeated', match.id);
  } catch (error) {
    if (!isArchived(error)) throw error;
    return outcomeOf(kind, 'noted', match.id, 'the project is archived');
  }
}

/** True for two heads of one time of which the forge did not say which came first. It can be asked. */
const isTie = ({ seen }: Candidate, { kind, sha, before, at }: Fact): boolean =>
  ofHead.has(kind) &&
  seen !== null &&
  seen.headAt !== null &&
  Date.parse(seen.headAt) === Date.parse(at) &&
  seen.headSha !== sha &&
  seen.headSha !== before;

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
