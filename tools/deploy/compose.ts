/** Reads the compose files and replaces their variables as Compose does. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { repositoryRoot } from '@muster/tools';
import { type Environment } from './apps.ts';

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly environment?: Environment;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: unknown;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly profiles?: readonly string[];
  readonly privileged?: boolean;
  readonly stop_grace_period?: string;
  readonly restart?: string;
}

export interface Compose {
  readonly name?: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly networks?: Readonly<Record<string, unknown>>;
}

/** `${NAME}`, `${NAME:-instead}` or `${NAME:?}`. */
const variable = /\$\{(?<name>\w+)(?::(?<kind>[-?])(?<instead>[^}]*))?\}/g;

export interface Use {
  readonly name: string;
  /** True if Compose refuses to start without the variable. */
  readonly isRequired: boolean;
  readonly hasInstead: boolean;
}

export const readText = (file: string): Promise<string> => readFile(path.join(repositoryRoot, file), 'utf8');

export const usesOf = (text: string): Use[] =>
  [...text.matchAll(variable)].map(({ groups = {} }) => ({
    name: groups['name'] ?? '',
    isRequired: groups['kind'] === '?',
    hasInstead: groups['kind'] === '-',
  }));

function fillIn(text: string, from: Environment): string {
  return text.replaceAll(
    variable,
    (_, name: string, kind: string | undefined, instead: string | undefined) => {
      const value = from[name] ?? '';
      if (value !== '') return value;
      if (kind === '?') throw new Error(`${name} is not set`);
      return instead ?? '';
    },
  );
}

/**
 * Reads a compose file. Throws if a required variable is empty. Like Compose, it replaces variables after
 * parsing, so that the values stay text.
 */
export async function readCompose(file: string, from: Environment): Promise<Compose> {
  const parsed: unknown = parse(await readText(file), { merge: true });
  const filledIn = JSON.stringify(parsed, (_key, value: unknown) =>
    typeof value === 'string' ? fillIn(value, from) : value,
  );
  return JSON.parse(filledIn) as Compose;
}
