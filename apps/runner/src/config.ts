/**
 * The file `.muster/work.yaml`: the settings of a repository for runners. It is read from the base branch,
 * never from an agent's branch.
 */
import { AttachmentKind, ForgeKind } from '@muster/contract';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { UsageError } from '@muster/terminal';

export const configFile = '.muster/work.yaml';

const unitMillis: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses durations such as `90s`, `10m` and `4h` into milliseconds. Returns undefined for other text. */
export function parseDurationMillis(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})(s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMillis[unit] ?? 0);
}

const Duration = z.string().transform((text, context) => {
  const millis = parseDurationMillis(text);
  if (millis !== undefined) return millis;
  context.addIssue({ code: 'custom', message: 'must be a duration such as 90s, 10m or 4h' });
  return z.NEVER;
});

/** A command line for the shell, or a list of arguments that is passed on unchanged. */
const CommandSetting = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)], {
    error: 'must be a command line, or a list of words',
  })
  .transform((command) => (typeof command === 'string' ? ['/bin/sh', '-c', command] : command));

const minutesToMillis = (count: number): number => count * 60_000;
const hookSchema = (defaultMinutes: number) =>
  z
    .union(
      [
        CommandSetting,
        z.strictObject({ run: CommandSetting, within: Duration.default(minutesToMillis(defaultMinutes)) }),
      ],
      {
        error: 'must be a command, or have the keys run: and within:',
      },
    )
    .transform((given) =>
      Array.isArray(given) ? { run: given, within: minutesToMillis(defaultMinutes) } : given,
    );
export interface Hook {
  readonly run: readonly string[];
  /** The time limit in milliseconds. */
  readonly within: number;
}

const EnvironmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name such as API_KEY');

/** The kinds of tool calls in the protocol for which an agent may request permission. */
const toolKinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
const permissionDecisions = ['allow', 'ask', 'deny'] as const;
export type PermissionDecision = (typeof permissionDecisions)[number];

const branchPlaceholders = ['key', 'epoch', 'slug'] as const;

/** The pattern must contain the epoch, because it distinguishes the branches of two holders of one story. */
const BranchPattern = z
  .string()
  .max(200)
  .refine((text) => text.includes('{key}') && text.includes('{epoch}'), {
    error: 'must contain {key} and {epoch}, so that each holder of a story has its own branch',
  })
  .refine(
    (text) =>
      [...text.matchAll(/\{([^}]*)\}/g)].every(([, word]) => branchPlaceholders.some((one) => one === word)),
    {
      error: `may contain only {${branchPlaceholders.join('}, {')}} in braces`,
    },
  )
  .refine((text) => /^[A-Za-z0-9][A-Za-z0-9._/{}-]*$/.test(text) && !/\.\.|\/\/|\/$|\.lock$/.test(text), {
    error: 'must be a valid git branch name',
  });

/** A glob of files relative to the root of the repository, in the syntax of git's pathspecs. */
const EvidenceGlob = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^:/!]/, 'must be relative to the root of the repository')
  .refine((glob) => !/[\\\p{Cc}]|(^|\/)\.\.(\/|$)/u.test(glob), 'must not contain \\ or ..');
const EvidenceSetting = z
  .union([EvidenceGlob, z.strictObject({ files: EvidenceGlob, kind: AttachmentKind })], {
    error: 'must be a glob, or have the keys files: and kind:',
  })
  .transform((given) => (typeof given === 'string' ? { files: given, kind: undefined } : given));

const WorkConfig = z.strictObject({
  agent: z
    .strictObject({
      command: CommandSetting.optional(),
      name: z.string().min(1).max(80).optional(),
      protocol: z.enum(['acp', 'command']).default('command'),
      permissions: z.partialRecord(z.enum(toolKinds), z.enum(permissionDecisions)).default({}),
      environment: z.array(EnvironmentName).default([]),
      idle: Duration.default(minutesToMillis(10)),
      limit: Duration.default(minutesToMillis(240)),
      tries: z.int().min(1).max(10).default(2),
    })
    .prefault({}),
  hooks: z
    .strictObject({
      after_create: hookSchema(10).optional(),
      before_run: hookSchema(5).optional(),
      verify: hookSchema(30).optional(),
      after_run: hookSchema(5).optional(),
    })
    .prefault({}),
  ports: z
    .union([
      z.int().min(1).max(100),
      z.strictObject({ count: z.int().min(1).max(100), from: z.int().min(1024).max(60_000) }),
    ])
    .optional(),
  branch: BranchPattern.default('muster/{key}-e{epoch}-{slug}'),
  base: z.string().min(1).optional(),
  remote: z.string().min(1).optional(),
  worktrees: z.string().min(1).optional(),
  /** The kind of forge at which the remote is. It is needed if the host name does not show the kind. */
  forge: ForgeKind.optional(),
  pullRequest: z.enum(['open', 'draft', 'none']).default('open'),
  checkpoint: Duration.default(minutesToMillis(5)),
  /** Files that are attached to the submission: test reports, coverage, screenshots, videos. */
  evidence: z.array(EvidenceSetting).max(50).default([]),
});
export type WorkConfig = z.output<typeof WorkConfig>;

/**
 * The first port for runs unless the file sets one. It is below the range that systems use for outgoing
 * connections.
 */
const defaultFirstPort = 21_000;

export const portRangeOf = ({
  ports,
}: WorkConfig): { readonly count: number; readonly from: number } | undefined =>
  typeof ports === 'number' ? { count: ports, from: defaultFirstPort } : ports;

/**
 * Parses the text. Throws UsageError with one line for each problem; `place` names the file in the message.
 */
export function parseConfig(text: string, fileName: string): WorkConfig {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined)
    throw new UsageError(`${fileName} is not valid YAML: ${broken.message.split('\n')[0] ?? ''}`);
  const parsed = WorkConfig.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(
    ({ path, message }) => `  ${path.length === 0 ? 'the file' : path.join('.')}: ${message}`,
  );
  throw new UsageError(`${fileName} is invalid:\n${lines.join('\n')}`);
}

/** Returns the name of the branch on which a holder works on a story. */
export function buildBranchName(pattern: string, key: string, epoch: number, title: string): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  const words: Readonly<Record<string, string>> = { key, epoch: String(epoch), slug: slug || 'work' };
  return pattern.replaceAll(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '');
}
