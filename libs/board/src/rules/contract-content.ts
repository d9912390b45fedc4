/** What the content of a contract must be, by its kind. */
import { type ContractKind } from '@muster/registry';

/** Kinds whose content is JSON; the rest is for their own compilers to judge. */
const jsonKinds: ReadonlySet<ContractKind> = new Set(['openapi', 'json_schema']);

/** Why the content is not of its kind; null where nothing speaks against it. */
export function flawOf(kind: ContractKind, content: string): string | null {
  if (!jsonKinds.has(kind)) return null;
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? null
      : 'the content is JSON, but no object';
  } catch {
    return 'the content is no JSON';
  }
}
