/** The command `muster work`. */
import { realpath } from 'node:fs/promises';
import { exitCodes, continueWhenOutputCloses, UsageError } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type ApiAccess } from './api-access.ts';
import { cleanRunFolders } from './clean.ts';
import { GitError } from './git.ts';
import { RunTokenError } from './identity.ts';
import { type JournalEntry, openJournal, type RunResult } from './journal.ts';
import { chooseAgent, type ChosenAgent, knownAgentNames } from './known-agents.ts';
import { watchReachability } from './reachability.ts';
import { findRepository } from './repository.ts';
import { loadRunSettings, type RunSettings, workOnStory } from './run.ts';
import { createRunnerReporter } from './say.ts';
import { serveRequests } from './serve.ts';
import { removeSecretsFromEnvironment } from './secrets.ts';
import { type RunnerSession, MachineSetupError } from './session.ts';
import { usePrivateConfig } from './private-config.ts';
import { GitConfigChangedError, rememberTrustedConfig, trustedConfigDigest } from './trusted-config.ts';
import { createParallelRuns, type StoryFilter } from './take.ts';

interface WorkFlags {
  readonly next?: boolean;
  readonly serve?: boolean;
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
  readonly takeOver?: boolean;
  readonly adopt?: boolean;
  readonly asMe?: boolean;
  readonly clean?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

function parseParallelCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 32)
    throw new InvalidArgumentError('The number must be from 1 to 32.');
  return count;
}

const appendValue = (value: string, previousValues: readonly string[] = []): string[] => [
  ...previousValues,
  value,
];

function appendVariableName(name: string, previousNames: readonly string[] = []): string[] {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError('It must be the name of an environment variable.');
  return [...previousNames, name];
}

export function configureWorkCommand(command: Command, api: ApiAccess): void {
  api
    .addFlags(
      command
        .description(
          'Takes a story, creates a git worktree for it and runs an agent there: any command that reads its task from standard input, changes files, and exits with 0. The work is saved as it goes, checked, committed, pushed, and submitted. Runs of a runner that died are continued first.\n\nThe repository can configure agent, hooks, branch and ports in .muster/work.yaml on its base branch.',
        )
        .argument('[story]', 'such as WEB-12; or use --next')
        .argument(
          '[command...]',
          "after --: the agent's command with its arguments, in which {prompt} and {prompt-file} are replaced",
        )
        .optionsGroup('Selecting work:')
        .option('--next', 'take the next available story, then the one after it, until the command is ended')
        .option(
          '--serve',
          "wait for stories that members assign to the agent or mention it on, in all of the agent's projects, until the command is ended",
        )
        .option('--project <project>', 'with --next: of which project; with --serve: only of this project')
        .option('--label <label>', 'with --next: only with this label; may be given again', appendValue)
        .option('--assigned-to-me', 'with --next: only stories assigned to the caller')
        .option('--once', 'with --next: one story; and where there is none, no waiting')
        .option('--parallel <count>', 'with --next or --serve: so many at once', parseParallelCount, 1)
        .option(
          '--take-over',
          'with a story: continue it even if its lease is live, such as after a machine died; leads may take over any lease, others that of another run of the same agent',
        )
        .option('--adopt', 'only continue runs of runners that died')
        .option('--clean', 'remove folders of ended runs whose contents are all on the remote')
        .optionsGroup('How:')
        .option(
          '--agent <name>',
          `${knownAgentNames.join(', ')}: run that agent with the Agent Client Protocol; with a command, its name in Muster`,
        )
        .option('--acp', 'the command uses the Agent Client Protocol')
        .option(
          '--env <name>',
          'an additional environment variable for the agent; repeatable',
          appendVariableName,
        )
        .option(
          '--as-me',
          'work as the caller, who must be an agent; without it each run of a member gets its own token',
        )
        .option('--here', 'work in this checkout, on a new branch, without a worktree')
        .option('--base <branch>', 'the target branch of the work; by default that of the remote')
        .option('--remote <name>', 'where branches are pushed; origin unless said')
        .option('--worktrees <folder>', 'the folder for worktrees; by default next to the checkout')
        .option('--quiet', "hide the agent's output")
        .option('--json', 'print events as JSON objects, for scripts')
        .addHelpText(
          'after',
          `
Examples:
  muster work WEB-12 --agent claude
  muster work --next --project WEB --parallel 3 --agent codex
  muster work --serve --agent claude
  muster work WEB-12 --acp -- opencode acp
  muster work WEB-12 -- ./agent.sh {prompt-file}`,
        ),
    )
    .action((story: string | undefined, agent: readonly string[], flags: WorkFlags) =>
      runWork([...(story === undefined ? [] : [story]), ...agent], flags, api),
    );
}

interface RequestedWork {
  readonly storyId: string | undefined;
  readonly project: string;
  readonly command: readonly string[];
}

/**
 * Interprets the arguments. Without --next the first argument is the story. Returns undefined if the flags
 * request something else than stories.
 */
function parseRequestedWork(
  words: readonly string[],
  { next = false, project, ...flags }: WorkFlags,
): RequestedWork | undefined {
  if (flags.serve === true) {
    const others = [
      next,
      flags.once,
      flags.takeOver,
      flags.adopt,
      flags.clean,
      flags.assignedToMe,
      flags.label,
    ];
    if (others.some((other) => other !== undefined && other !== false))
      throw new UsageError('--serve can be combined only with --project, --parallel and the agent');
    if (flags.here === true && flags.parallel > 1)
      throw new UsageError('--here runs only one story at a time');
    return undefined;
  }
  if (flags.takeOver === true && (next || flags.adopt === true || flags.clean === true))
    throw new UsageError('--take-over needs a story');
  if (flags.adopt === true || flags.clean === true) {
    if (words.length > 0 || next)
      throw new UsageError('--adopt and --clean cannot be combined with a story or a command');
    return undefined;
  }
  if (next) {
    if (project === undefined) throw new UsageError('--next needs --project');
    if (flags.here === true && flags.parallel > 1)
      throw new UsageError('--here runs only one story at a time');
    return { storyId: undefined, project, command: words };
  }
  const [storyId, ...command] = words;
  if (storyId === undefined) throw new UsageError('no story is given: name one, or use --next and --project');
  const [, key] = /^([A-Za-z][A-Za-z0-9]{1,9})-\d+$/.exec(storyId) ?? [];
  if (key === undefined) throw new UsageError(`${storyId} is not a story key such as WEB-12`);
  if (flags.parallel > 1) throw new UsageError('--parallel requires --next or --serve');
  return { storyId, project: key.toUpperCase(), command };
}

async function createRunnerSession(
  flags: WorkFlags,
  api: ApiAccess,
  stopSignal: AbortSignal,
): Promise<RunnerSession> {
  if (process.platform === 'win32') throw new UsageError('muster work needs Linux, macOS or WSL');
  const { connection, client } = await api.connect(flags);
  removeSecretsFromEnvironment();
  const repository = await findRepository(await realpath(process.cwd()), flags.remote);
  await rememberTrustedConfig(repository.commonDir, repository.gitDir);
  await usePrivateConfig(repository);
  return {
    ...{ connection, repository, stopSignal, callerClient: client, worktreesFolder: flags.worktrees },
    parallelRuns: createParallelRuns(),
    worksAsCallingAgent: flags.asMe === true,
    say: createRunnerReporter({ json: flags.json === true, quiet: flags.quiet === true }),
  };
}

/**
 * Returns a signal that aborts at the first Ctrl-C, or when the reader of the output is gone. At the second
 * Ctrl-C the process exits immediately, and the journal has the step from which to resume.
 */
function createStopSignal(): AbortSignal {
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (leaving.signal.aborted) process.exit(130);
      process.stderr.write('muster: ending the current work; press Ctrl-C again to end immediately\n');
      leaving.abort();
    });
  continueWhenOutputCloses(process.stdout, () => {
    leaving.abort();
  });
  return leaving.signal;
}

/**
 * Throws UsageError if git's configuration changed since the runner of the entry died. Its agent may have
 * changed it.
 */
function requireSameGitConfig({ gitConfig, work: its, project }: JournalEntry): void {
  if (gitConfig === undefined || gitConfig === trustedConfigDigest()) return;
  throw new UsageError(
    `${its?.key ?? project}: git's configuration changed after its runner died. Check .git/config and ~/.gitconfig. If the change is yours, undo it, adopt the run, and make the change again.`,
  );
}

/** Resumes runs that dead runners left. */
async function adoptRuns(
  session: RunnerSession,
  flags: WorkFlags,
  requested: RequestedWork | undefined,
): Promise<RunResult[]> {
  const { repository, connection, say } = session;
  const isOurs = ({ step, baseUrl, project, work: its }: JournalEntry): boolean =>
    step !== 'kept' &&
    baseUrl === connection.baseUrl &&
    (requested === undefined ||
      (project === requested.project &&
        (requested.storyId === undefined || its?.key === requested.storyId.toUpperCase())));
  const entries = await openJournal(repository.commonDir).adoptEntries(isOurs);
  const verdicts: RunResult[] = [];
  const failures: unknown[] = [];
  for (const own of entries) {
    const { work: its } = own.get();
    const named = its === undefined ? flags.base : its.base;
    try {
      requireSameGitConfig(own.get());
      const setting = await loadRunSettings(session, named);
      const verdict = await workOnStory(session, own, setting, undefined);
      if (verdict !== undefined) verdicts.push(verdict);
      else say.warn('discarded a run that had not taken a story');
    } catch (error) {
      // The failed run stays in the journal. The other runs are still resumed.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return verdicts;
}

function chooseRequestedAgent(
  command: readonly string[],
  flags: WorkFlags,
  { config }: RunSettings,
): ChosenAgent {
  const agent = chooseAgent({ command, acp: flags.acp === true, name: flags.agent }, config);
  if (agent !== undefined) return agent;
  throw new UsageError(
    `no agent is given: use --agent ${knownAgentNames.join(', ')}, a command after --, or agent.command in .muster/work.yaml`,
  );
}

/** Begins a run with the current settings of the repository. Returns undefined if there was no story. */
async function startRun(
  session: RunnerSession,
  flags: WorkFlags,
  { command, project, request }: Pick<RequestedWork, 'command' | 'project'> & { readonly request?: string },
  filter: StoryFilter,
): Promise<RunResult | undefined> {
  const { repository, connection } = session;
  const setting = await loadRunSettings(session, flags.base);
  const agent = chooseRequestedAgent(command, flags, setting);
  if (
    flags.here === true &&
    (await repository.git(['status', '--porcelain', '--ignore-submodules=dirty'])) !== ''
  )
    throw new UsageError('--here needs a checkout without uncommitted changes; commit or discard them first');
  const own = await openJournal(repository.commonDir).createEntry({
    ...{ baseUrl: connection.baseUrl, command: [...agent.command], here: flags.here === true },
    ...{ passed: [...(flags.env ?? [])], project, gitConfig: trustedConfigDigest() },
    ...{ protocol: agent.protocol, agentName: agent.name, request },
  });
  return workOnStory(session, own, setting, filter);
}

async function serve(
  session: RunnerSession,
  flags: WorkFlags,
  command: readonly string[],
): Promise<RunResult[]> {
  const { name } = chooseRequestedAgent(command, flags, await loadRunSettings(session, flags.base));
  return serveRequests(session, {
    ...{ agentName: name, parallel: flags.parallel, projectKey: flags.project?.toUpperCase() },
    adoptRuns: () => adoptRuns(session, flags, undefined),
    startRun: ({ story, text }, searchEndSignal) =>
      startRun(
        session,
        flags,
        { command, project: story.key.slice(0, story.key.lastIndexOf('-')), request: text },
        { storyId: story.key, waitsForStory: false, outlastsOutage: true, searchEndSignal },
      ),
  });
}

async function workOnRequested(
  session: RunnerSession,
  flags: WorkFlags,
  requested: RequestedWork,
): Promise<RunResult[]> {
  const { stopSignal } = session;
  const verdicts: RunResult[] = [];
  const isOnce = requested.storyId !== undefined || flags.once === true;
  const failed = new AbortController();
  const until = AbortSignal.any([stopSignal, failed.signal]);
  const slot = async (): Promise<void> => {
    do {
      const verdict = await startRun(session, flags, requested, {
        ...(requested.storyId !== undefined && { storyId: requested.storyId }),
        ...(flags.takeOver === true && { takesOver: true }),
        ...(flags.label !== undefined && { labels: [...flags.label] }),
        ...{ assignedToMe: flags.assignedToMe === true, waitsForStory: !isOnce, searchEndSignal: until },
        outlastsOutage: verdicts.length > 0,
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

async function adoptAndWork(
  session: RunnerSession,
  flags: WorkFlags,
  asked: RequestedWork | undefined,
): Promise<RunResult[]> {
  const adopted = await adoptRuns(session, flags, asked);
  const isOne = asked?.storyId !== undefined || flags.once === true;
  const isDone = asked === undefined || (isOne && adopted.length > 0);
  return isDone ? adopted : [...adopted, ...(await workOnRequested(session, flags, asked))];
}

const successfulOutcomes = new Set<RunResult['outcome']>(['submitted', 'ended', 'handoff']);

async function runWork(words: readonly string[], flags: WorkFlags, api: ApiAccess): Promise<void> {
  const asked = parseRequestedWork(words, flags);
  const session = await createRunnerSession(flags, api, createStopSignal());
  if (flags.clean === true) {
    await cleanRunFolders(session);
    return;
  }
  const over = new AbortController();
  void watchReachability(session, over.signal);
  try {
    const verdicts =
      flags.serve === true ? await serve(session, flags, words) : await adoptAndWork(session, flags, asked);
    if (!verdicts.every(({ outcome }) => successfulOutcomes.has(outcome)))
      process.exitCode = exitCodes.failed;
  } catch (error) {
    if (error instanceof RunTokenError || error instanceof GitError || error instanceof GitConfigChangedError)
      session.say.warn(error.message);
    else if (!(error instanceof MachineSetupError)) throw error;
    process.exitCode = exitCodes.failed;
  } finally {
    over.abort();
  }
}
