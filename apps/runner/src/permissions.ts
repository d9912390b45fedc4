/**
 * Decides permission requests of agents: by the repository's settings, or by the answer of people to a
 * question on the story.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type PermissionOption,
  type PermissionOptionKind,
  type RequestPermissionOutcome,
  type ToolCallUpdate,
  type ToolKind,
} from '@agentclientprotocol/sdk';
import { type PermissionDecision } from './config.ts';
import { type ReadyRun } from './session.ts';

/**
 * The default decision. It allows each kind of tool call except a change of the session's mode, which only
 * the runner may make.
 */
const defaultDecision = (kind: ToolKind): PermissionDecision => (kind === 'switch_mode' ? 'deny' : 'allow');

const changingToolKinds = new Set<ToolKind>(['edit', 'delete', 'move']);

const isInFolder = (folder: string, file: string): boolean => {
  const way = path.relative(folder, file);
  return way === '' || (!way.startsWith('..') && !path.isAbsolute(way));
};

/** Decides by the settings. A change outside of the worktree is always denied. */
export function decidePermission(
  { config, worktree, own }: ReadyRun,
  toolCall: ToolCallUpdate,
): PermissionDecision {
  const kind = toolCall.kind ?? 'other';
  const homes = [worktree.folder, own.folder, tmpdir()];
  const places = (toolCall.locations ?? []).map((at) => path.resolve(worktree.folder, at.path));
  const goesOut = places.some((place) => !homes.some((home) => isInFolder(home, place)));
  if (changingToolKinds.has(kind) && goesOut) return 'deny';
  return config.agent.permissions[kind] ?? defaultDecision(kind);
}

/**
 * The options of the protocol that express a decision, best first. Only people can decide `always`; the
 * settings cannot.
 */
const optionKindsByDecision = {
  allow: ['allow_once', 'allow_always'],
  always: ['allow_always', 'allow_once'],
  deny: ['reject_once', 'reject_always'],
} as const satisfies Record<string, readonly PermissionOptionKind[]>;

export function selectOption(
  options: readonly PermissionOption[],
  decision: keyof typeof optionKindsByDecision,
): RequestPermissionOutcome {
  const found = optionKindsByDecision[decision]
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  return found === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: found.optionId };
}

/**
 * Reads the decision from the first word of an answer. Any word other than a known word of consent means a
 * denial.
 */
export function parsePermissionAnswer(body: string): keyof typeof optionKindsByDecision {
  const [word = ''] = /[a-z]+/.exec(body.trim().toLowerCase()) ?? [];
  if (word === 'always') return 'always';
  return ['allow', 'yes', 'ok', 'okay'].includes(word) ? 'allow' : 'deny';
}

const maxInputChars = 4_000;

function permissionQuestion(agent: string, { title, kind, rawInput }: ToolCallUpdate): string {
  const input = rawInput === undefined ? '' : JSON.stringify(rawInput, null, 2).slice(0, maxInputChars);
  return [
    `${agent} asks for permission: ${title ?? kind ?? 'a tool call'}`,
    ...(input === '' ? [] : [`\`\`\`json\n${input}\n\`\`\``]),
    'Answer with *allow*, *always* (for the rest of its session) or *deny*, and resolve the question.',
  ].join('\n\n');
}

/**
 * Asks a question on the story and waits for the answer without a time limit. The work is in the state
 * waiting_input until then.
 */
export async function askForPermission(
  { client, work, lease, signals, session, own }: ReadyRun,
  toolCall: ToolCallUpdate,
): Promise<string> {
  const body = permissionQuestion(own.get().agentName, toolCall);
  const { comment } = await client.comments.create({
    ...{ storyId: work.storyId, kind: 'question', body },
    options: Object.keys(optionKindsByDecision),
  });
  const answer = signals.awaitAnswer(comment.id);
  await lease.update({ waitingFor: { questionId: comment.id } });
  session.say.reportStep(
    work.key,
    'asked',
    `asks for permission: ${toolCall.title ?? toolCall.kind ?? 'a tool call'}`,
    {
      questionId: comment.id,
    },
  );
  return answer;
}
