/**
 * Which texts of an answer people and programs wrote as they liked. A story may hold words that are meant for the model
 * that reads it, so clients are told where such words can stand, and may fence them; the instructions tell the model.
 */
import { type Answer } from './answers.ts';

/** Fields of the contract's results whose text its author chose (a spec holds every field of text against this). */
export const authoredFields: ReadonlySet<string> = new Set([
  ...['title', 'storyTitle', 'targetTitle', 'name', 'fullName', 'description', 'content', 'body', 'snippet'],
  ...['summary', 'nextSteps', 'filesTouched', 'note', 'message', 'reason', 'question', 'answer', 'decision'],
  ...['labels', 'tags', 'branch', 'baseBranch', 'resources', 'resource', 'heldResource', 'witness', 'path'],
  ...['ref', 'checks', 'data', 'manifest', 'error', 'details'],
]);

/** Whether there is text in it. */
const saysSomething = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'object' && value !== null && Object.values(value).some(saysSomething);

function* pathsIn(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* pathsIn(item, `${path}[]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`;
      if (!authoredFields.has(key)) yield* pathsIn(inner, at);
      else if (saysSomething(inner)) yield at;
    }
  }
}

/** Their paths, `items[].body`, each once and in the order of the answer. */
export const authoredIn = (answer: Answer): string[] => [...new Set(pathsIn(answer, ''))];
