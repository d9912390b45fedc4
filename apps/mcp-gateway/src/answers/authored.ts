/**
 * Lists the fields of a result whose text members or agents wrote freely. Such text may contain instructions
 * aimed at the model that reads it. Clients receive the paths of these fields and may fence them; the
 * server's instructions warn the model.
 */
import { type AnswerBody } from './answers.ts';

/**
 * Fields of the contract's results whose text its author chose. A spec checks this list against every text
 * field of the contract.
 */
export const authoredFields: ReadonlySet<string> = new Set([
  ...['title', 'storyTitle', 'targetTitle', 'name', 'fullName', 'description', 'content', 'body', 'snippet'],
  ...['summary', 'nextSteps', 'filesTouched', 'note', 'message', 'text', 'reason', 'question', 'answer'],
  ...['decision', 'labels', 'tags', 'branch', 'baseBranch', 'resources', 'resource', 'heldResource'],
  ...['witness', 'path', 'touches', 'dependsOn', 'waves', 'criticalPath', 'ref', 'checks', 'data'],
  ...['manifest', 'error', 'details', 'outside', 'untouched', 'suggested', 'failed', 'options'],
]);

/** Returns true if the value contains a text that is not empty. */
const containsText = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'object' && value !== null && Object.values(value).some(containsText);

function* findAuthoredPaths(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* findAuthoredPaths(item, `${path}[]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`;
      if (!authoredFields.has(key)) yield* findAuthoredPaths(inner, at);
      else if (containsText(inner)) yield at;
    }
  }
}

/** Lists the paths of authored texts, such as `items[].body`, each once and in the order of the result. */
export const listAuthoredPaths = (answer: AnswerBody): string[] => [
  ...new Set(findAuthoredPaths(answer, '')),
];
