/** Finds the usage in the output of a command, whichever agent the command is. */
import { createClaudeUsageReader } from './claude.ts';
import { createCodexUsageReader } from './codex.ts';
import { createGeminiUsageReader } from './gemini.ts';
import { type UsageChange } from './model-usage.ts';

/** Longer documents of several lines are not read. */
const maxDocumentChars = 1_000_000;

/** Returns the model that a command selects by `--model` or `-m`. */
export function modelOfCommand(command: readonly string[]): string | undefined {
  const index = command.findIndex((word) => /^(-m|--model)(=|$)/.test(word));
  const value = command[index]?.split('=')[1] ?? command[index + 1];
  return index === -1 || value === undefined ? undefined : value.slice(0, 120) || undefined;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns a function that reads one line of the output. Lines without usage, and malformed ones, are ignored. */
export function createOutputUsageReader(fallbackModel: string): (line: string) => UsageChange | undefined {
  const readers = [createClaudeUsageReader, createCodexUsageReader, createGeminiUsageReader].map((create) =>
    create(fallbackModel),
  );
  /** The lines of a formatted JSON document, such as Gemini CLI's, from `{` to `}`. */
  let document: string[] | undefined;
  let documentChars = 0;
  return (line) => {
    let text = line;
    // Only the first line of a formatted document is not indented.
    if (line.startsWith('{')) document = undefined;
    if (line === '{') [document, documentChars] = [[], 0];
    if (document !== undefined) {
      document.push(line);
      documentChars += line.length;
      const isWhole = line === '}';
      if (isWhole) text = document.join('\n');
      if (isWhole || documentChars > maxDocumentChars) document = undefined;
      if (!isWhole) return undefined;
    }
    if (!text.startsWith('{')) return undefined;
    const event = parseJson(text);
    for (const read of event === undefined ? [] : readers) {
      const change = read(event);
      if (change !== undefined) return change;
    }
    return undefined;
  };
}
