/** Describes an operation in words, for pages, tools and help texts. */
import {
  type Access,
  errorStatus,
  type Operation,
  identityProofValidMinutes,
  pathOf,
  type ErrorReason,
  describePermittedCallers,
  groundsOf,
  reasons,
  type Scope,
} from '@muster/contract';
import { operations } from '@muster/registry';
import { answers } from './answers.generated.ts';
import { exampleWords, shellQuote } from './command-line/words.ts';
import { type ReferenceField, fieldsOf, parametersOf } from './fields.ts';

/** An expected error of an operation. */
export interface Refusal {
  readonly reason: ErrorReason;
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
  /** The recommended action of the caller. */
  readonly remedy: string;
  readonly retryable: boolean;
}

export interface OperationPage {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly effect: 'read' | 'write';
  /** The path of the operation below the address of the API. */
  readonly path: string;
  /** The required role or rights, as a sentence. */
  readonly access: string;
  readonly byMemberOnly: boolean;
  readonly takesBoundTokens: boolean;
  readonly scope: Scope;
  /** True if the operation is offered to models as a tool. */
  readonly isTool: boolean;
  readonly params: readonly ReferenceField[];
  readonly result: readonly ReferenceField[];
  readonly refusals: readonly Refusal[];
  readonly events: readonly string[];
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  readonly example: unknown;
  /** The example as a command. */
  readonly command: string;
  /**
   * The answer to the example as JSON text, with the first two items of each list. Null if the example was
   * never called.
   */
  readonly answer: string | null;
}

/** Describes the members and tokens that may call an operation: `a contributor of the project, or more`. */
export function describeAccess(operation: Operation): string {
  const { access, byMemberOnly, needsProof, readsInbox, takesBoundTokens } = operation;
  const wanted = groundsOf(access);
  return [
    describeRequiredRole(access) + (wanted.length > 0 ? `, who is ${describePermittedCallers(wanted)}` : ''),
    ...(byMemberOnly ? ["not with an agent's token"] : []),
    ...(readsInbox ? ["with an agent's token only if its member lets it read the inbox"] : []),
    ...(takesBoundTokens ? [] : ['not with a token that is limited to projects']),
    ...(needsProof ? [`in a session, only within ${identityProofValidMinutes} minutes of signing in`] : []),
  ].join('; ');
}

function describeRequiredRole(access: Access): string {
  switch (access.kind) {
    case 'self':
      return 'any member, about themselves';
    case 'platform':
      return 'operators of the installation';
    case 'org':
      return `${withArticle(access.role)} of the organization, or a higher role`;
    case 'project':
      return `${withArticle(access.role)} of the project, or a higher role`;
  }
}

const withArticle = (role: string): string => `${/^[aeo]/.test(role) ? 'an' : 'a'} ${role}`;

/** Reasons of refusals that any write may have in addition to its own reasons. */
const idempotencyReasons = ['idempotency_in_flight', 'idempotency_mismatch'] as const;

export const refusalOf = (reason: ErrorReason): Refusal => {
  const fact = reasons[reason];
  return { reason, status: errorStatus[fact.code], ...fact };
};

export function toOperationPage(operation: Operation): OperationPage {
  const { name, summary, description, effect, scope, bodyLimit, example } = operation;
  return {
    ...{ name, summary, description, effect, scope, bodyLimit, example },
    path: pathOf(name),
    access: describeAccess(operation),
    byMemberOnly: operation.byMemberOnly,
    takesBoundTokens: operation.takesBoundTokens,
    isTool: operation.surfaces.includes('tool'),
    params: parametersOf(operation),
    result: fieldsOf(operation.result, 'output'),
    refusals: [...operation.refusals, ...(effect === 'write' ? idempotencyReasons : [])].map(refusalOf),
    events: operation.emits,
    command: wrapCommand(exampleWords(operation)),
    answer: exampleAnswerOf(name),
  };
}

/** The answer of an operation's example as JSON text; null if the example was not called yet. */
export const exampleAnswerOf = (name: string): string | null => answers[name] ?? null;

/** Groups the operations by namespace, in the order of the registry. */
export function operationsByNamespace(): Map<string, Operation[]> {
  const all = new Map<string, Operation[]>();
  for (const operation of operations.values())
    all.set(operation.namespace, [...(all.get(operation.namespace) ?? []), operation]);
  return all;
}

export interface Example {
  readonly language: 'bash' | 'ts' | 'sh' | 'json';
  readonly title: string;
  readonly code: string;
}

/** The number of characters in a line of an example. A longer command or body is split into several lines. */
const maxLineLength = 60;

/** Formats the words of a command line. If they do not fit on one line, each flag starts a new line. */
export function wrapCommand(words: readonly string[], maxLength = maxLineLength): string {
  const typed = words.map(shellQuote);
  const line = typed.join(' ');
  if (line.length <= maxLength) return line;
  const parts: string[] = [];
  for (const [at, word] of typed.entries()) {
    const last = parts.at(-1) ?? '';
    // A flag and its value stay on the same line, even if the value is too long for the line.
    const isValue = typed[at - 1]?.startsWith('--') === true;
    const fits = isValue || last.length + word.length < maxLength - ' \\'.length - 2;
    if (word.startsWith('--') || parts.length === 0 || !fits) parts.push(word);
    else parts.push(`${parts.pop() ?? ''} ${word}`);
  }
  return parts.join(' \\\n  ');
}

const mcpExampleOf = (name: string, example: unknown): Example => ({
  language: 'json',
  title: 'MCP',
  code: JSON.stringify(
    { method: 'tools/call', params: { name: name.replaceAll('.', '_'), arguments: example } },
    null,
    2,
  ),
});

/**
 * Returns the same call in each language. Shell examples read the address and the token from BASE_URL and
 * TOKEN.
 */
export function examplesOf({ name, path, effect, example, command, isTool }: OperationPage): Example[] {
  const json = JSON.stringify(example, null, 2);
  const oneLine = JSON.stringify(example);
  const key = effect === 'write' ? ` \\\n  -H "Idempotency-Key: $(head -c 16 /dev/urandom | base64)"` : '';
  return [
    {
      language: 'bash',
      title: 'curl',
      code: `curl -sS "$BASE_URL${path}" \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json'${key} \\\n  -d '${(oneLine.length > maxLineLength ? json : oneLine).replaceAll("'", "'\\''")}'`,
    },
    {
      language: 'ts',
      title: 'TypeScript',
      code: `const result = await muster.${name}(${oneLine === '{}' ? '' : json});`,
    },
    { language: 'sh', title: 'Command line', code: command },
    ...(isTool ? [mcpExampleOf(name, example)] : []),
  ];
}
