/** The command `muster work`. */
import { realpath } from 'node:fs/promises';
import { exitCodes, goOnUnread, UsageError } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type ApiAccess } from './api-access.ts';
import { clean } from './clean.ts';
import { GitError } from './git.ts';
import { NoRunToken } from './identity.ts';
import { type JournalEntry, openJournal, type RunResult } from './journal.ts';
import { chooseAgent, knownAgents } from './known-agents.ts';
import { findRepository } from './repository.ts';
import { settle, work } from './run.ts';
import { openSay } from './say.ts';
import { takeSecrets } from './secrets.ts';
import { type RunnerSession, SetUpFailed } from './session.ts';
import { ConfigChanged, trustConfig, trustedDigest } from './trusted-config.ts';
import { createSiblings } from './take.ts';

interface WorkFlags {
  readonly next?: boolean;
  readonly project?: string;
  readonly label?: readonly string[];
  readonly assignedToMe?: boolean;
  readonly parallel: number;
  readonly once?: boolean;
  readonly here?: boolean;
  readonly agent?: string;
  readonly acp?: boolean;
  readonly env?: readonly string[];
  readonly base?: string;
  readonly remote?: string;
  readonly worktrees?: string;
  readonly adopt?: boolean;
  readonly asMe?: boolean;
  readonly clean?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 32)
    throw new InvalidArgumentError('It must be 1 to 32.');
  return count;
}

const gathered = (one: string, before: readonly string[] = []): string[] => [...before, one];

function toName(name: string, before: readonly string[] = []): string[] {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError('It must be the name of a variable.');
  return [...before, name];
}

export function fillWork(command: Command, api: ApiAccess): void {
  api
    .addFlags(
      command
        .description(
          `Takes a story, makes a git worktree for it and runs an agent there: any command that reads what is to be done from its standard input, changes files, and ends with 0. Its work is saved as it goes, checked, committed, pushed, and handed in. What a runner that died left is gone on with first.

The repository's own wishes stand in .muster/work.yaml of the base branch: agent, hooks, branch, ports.`,
        )
        .argument('[story]', 'such as WEB-12; or give --next')
        .argument(
          '[command...]',
          'behind --: the agent with its arguments, in which {prompt} and {prompt-file} are filled in',
        )
        .optionsGroup('Which work:')
        .option('--next', 'the next story that can start; then the one after it, until it is ended')
        .option('--project <project>', 'with --next: of which project')
        .option('--label <label>', 'with --next: only with this label; may be given again', gathered)
        .option('--assigned-to-me', 'with --next: only what is assigned to the caller')
        .option('--once', 'with --next: one story; and where there is none, no waiting')
        .option('--parallel <count>', 'with --next: so many at once', toCount, 1)
        .option('--adopt', 'only go on with what runners left that died')
        .option(
          '--clean',
          'give back folders of runs that are over, where the remote has all that is in them',
        )
        .optionsGroup('How:')
        .option(
          '--agent <name>',
          `${knownAgents.join(', ')}: that agent, by the Agent Client Protocol; with a command, what it is called in Muster`,
        )
        .option('--acp', 'the command speaks the Agent Client Protocol')
        .option(
          '--env <name>',
          'a variable that the agent gets besides the usual ones; may be given again',
          toName,
        )
        .option('--as-me', 'work as the caller, who must be an agent; a member gets a token for each run')
        .option('--here', 'in this checkout, on a branch of its own, without a worktree')
        .option('--base <branch>', "the branch that work goes into; the remote's own unless said")
        .option('--remote <name>', 'where branches are pushed; origin unless said')
        .option('--worktrees <folder>', 'where worktrees are made; beside the checkout unless said')
        .option('--quiet', 'leave out what the agent prints')
        .option('--json', 'print a JSON object for each thing that happens, for scripts')
        .addHelpText(
          'after',
          `
Examples:
  muster work WEB-12 --agent claude
  muster work --next --project WEB --parallel 3 --agent codex
  muster work WEB-12 --acp -- opencode acp
  muster work WEB-12 -- ./agent.sh {prompt-file}`,
        ),
    )
    .action((story: string | undefined, agent: readonly string[], flags: WorkFlags) =>
      runWork([...(story === undefined ? [] : [story]), ...agent], flags, api),
    );
}

interface Asked {
  readonly storyId: string | undefined;
  readonly project: string;
  readonly command: readonly string[];
}

/** Interprets the arguments. Without --next the first argument is the story. */
function askedFor(
  words: readonly string[],
  { next = false, project, ...flags }: WorkFlags,
): Asked | undefined {
  if (flags.adopt === true || flags.clean === true) {
    if (words.length > 0 || next) throw new UsageError('--adopt and --clean take no story and no command');
    return undefined;
  }
  if (next) {
    if (project === undefined) throw new UsageError('--next needs --project');
    if (flags.here === true && flags.parallel > 1) throw new UsageError('--here is for one at a time');
    return { storyId: undefined, project, command: words };
  }
  const [storyId, ...command] = words;
  if (storyId === undefined) throw new UsageError('which story? name one, or give --next and --project');
  const [, key] = /^([A-Za-z][A-Za-z0-9]{1,9})-\d+$/.exec(storyId) ?? [];
  if (key === undefined) throw new UsageError(`${storyId} is no key of a story, such as WEB-12`);
  if (flags.parallel > 1) throw new UsageError('--parallel goes with --next');
  return { storyId, project: key.toUpperCase(), command };
}

async function openSession(flags: WorkFlags, api: ApiAccess, leaving: AbortSignal): Promise<RunnerSession> {
  if (process.platform === 'win32') throw new UsageError('muster work needs Linux, macOS or WSL');
  const { connection, client } = await api.connect(flags);
  takeSecrets();
  const repository = await findRepository(await realpath(process.cwd()), flags.remote);
  await trustConfig(repository.commonDir);
  return {
    ...{ connection, repository, leaving, caller: client, worktrees: flags.worktrees },
    siblings: createSiblings(),
    asMe: flags.asMe === true,
    say: openSay({ json: flags.json === true, quiet: flags.quiet === true }),
  };
}

/**
 * Returns a signal that aborts at the first Ctrl-C, or when the reader of the output is gone. At the second
 * Ctrl-C the process exits immediately, and the journal has the step from which to resume.
 */
function heedSignals(): AbortSignal {
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (leaving.signal.aborted) process.exit(130);
      process.stderr.write('muster: ending what is at work; once more ends at once\n');
      leaving.abort();
    });
  }
  goOnUnread(process.stdout, () => {
    leaving.abort();
  });
  return leaving.signal;
}

/**
 * Throws UsageError if git's configuration changed since the runner of the entry died. Its agent may have
 * changed it.
 */
function requireSameConfig({ gitConfig, work: its, project }: JournalEntry): void {
  if (gitConfig === undefined || gitConfig === trustedDigest()) return;
  throw new UsageError(
    `${its?.key ?? project}: git's configuration changed since its runner died. Look at .git/config and ~/.gitconfig; if the change is yours, undo it, adopt the run, and make it again.`,
  );
}

/** Resumes runs that dead runners left. */
async function adopt(
  session: RunnerSession,
  flags: WorkFlags,
  asked: Asked | undefined,
): Promise<RunResult[]> {
  const { repository, connection, say } = session;
  const isOurs = ({ step, baseUrl, project, work: its }: JournalEntry): boolean =>
    step !== 'kept' &&
    baseUrl === connection.baseUrl &&
    (asked === undefined ||
      (project === asked.project &&
        (asked.storyId === undefined || its?.key === asked.storyId.toUpperCase())));
  const entries = await openJournal(repository.commonDir).adopt(isOurs);
  const verdicts: RunResult[] = [];
  const failures: unknown[] = [];
  for (const own of entries) {
    const { work: its } = own.get();
    const named = its === undefined ? flags.base : its.base;
    try {
      requireSameConfig(own.get());
      const setting = await settle(session, named);
      const verdict = await work(session, own, setting, undefined);
      if (verdict !== undefined) verdicts.push(verdict);
      else say.warn('a run that had taken nothing was forgotten');
    } catch (error) {
      // The failed run stays in the journal. The other runs are still resumed.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return verdicts;
}

async function workOn(session: RunnerSession, flags: WorkFlags, asked: Asked): Promise<RunResult[]> {
  const { repository, connection, leaving } = session;
  const verdicts: RunResult[] = [];
  const isOnce = asked.storyId !== undefined || flags.once === true;
  const failed = new AbortController();
  const until = AbortSignal.any([leaving, failed.signal]);
  const slot = async (): Promise<void> => {
    do {
      const setting = await settle(session, flags.base);
      const given = { command: asked.command, acp: flags.acp === true, name: flags.agent };
      const agent = chooseAgent(given, setting.config);
      if (agent === undefined) {
        throw new UsageError(
          `which agent? give --agent ${knownAgents.join(', ')}, or a command behind --, or agent.command in .muster/work.yaml`,
        );
      }
      if (
        flags.here === true &&
        (await repository.git(['status', '--porcelain', '--ignore-submodules=dirty'])) !== ''
      ) {
        throw new UsageError('--here needs a checkout without changes: commit or remove them first');
      }
      const own = await openJournal(repository.commonDir).begin({
        ...{ baseUrl: connection.baseUrl, command: [...agent.command], here: flags.here === true },
        ...{ passed: [...(flags.env ?? [])], project: asked.project, gitConfig: trustedDigest() },
        ...{ protocol: agent.protocol, agentName: agent.name },
      });
      const verdict = await work(session, own, setting, {
        ...(asked.storyId !== undefined && { storyId: asked.storyId }),
        ...(flags.label !== undefined && { labels: [...flags.label] }),
        ...{ assignedToMe: flags.assignedToMe === true, waits: !isOnce, until },
      });
      if (verdict === undefined) return;
      verdicts.push(verdict);
    } while (!isOnce && !until.aborted);
  };
  const slots = Array.from({ length: flags.parallel }, async () => {
    try {
      await slot();
    } catch (error) {
      failed.abort(error);
    }
  });
  await Promise.all(slots);
  failed.signal.throwIfAborted();
  return verdicts;
}

const good = new Set<RunResult['outcome']>(['submitted', 'ended', 'handoff']);

async function runWork(words: readonly string[], flags: WorkFlags, api: ApiAccess): Promise<void> {
  const asked = askedFor(words, flags);
  const session = await openSession(flags, api, heedSignals());
  if (flags.clean === true) {
    await clean(session);
    return;
  }
  try {
    const adopted = await adopt(session, flags, asked);
    const isOne = asked?.storyId !== undefined || flags.once === true;
    const isDone = asked === undefined || (isOne && adopted.length > 0);
    const verdicts = isDone ? adopted : [...adopted, ...(await workOn(session, flags, asked))];
    if (!verdicts.every(({ outcome }) => good.has(outcome))) process.exitCode = exitCodes.failed;
  } catch (error) {
    if (error instanceof NoRunToken || error instanceof GitError || error instanceof ConfigChanged)
      session.say.warn(error.message);
    else if (!(error instanceof SetUpFailed)) throw error;
    process.exitCode = exitCodes.failed;
  }
}
