import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { storyStatuses } from '@muster/registry';
import { z } from 'zod';

const Story = z.object({
  localId: z.string(),
  title: z.string(),
  description: z.string().optional(),
  status: z.enum(storyStatuses),
  epicLocalId: z.string().optional(),
  priority: z.enum(['none', 'low', 'medium', 'high', 'urgent']).optional(),
  labels: z.array(z.string()).default([]),
  estimate: z.number().optional(),
  /** Markdown, relative to the board's file. */
  specFile: z.string().optional(),
});

/** A board as a file. What else stands in it (people, paths) is nothing that a board has, and is left out. */
const Board = z.object({
  name: z.string().optional(),
  epics: z.array(z.object({ localId: z.string(), title: z.string(), description: z.string().optional() })),
  stories: z.array(Story).min(1),
});

export type FileStory = z.infer<typeof Story>;

export interface BoardFile {
  readonly path: string;
  readonly name: string;
  readonly epics: z.infer<typeof Board>['epics'];
  readonly stories: readonly FileStory[];
  /** The specs by the localId of their story. */
  readonly specs: ReadonlyMap<string, string>;
}

export async function readBoardFile(file: string): Promise<BoardFile> {
  const parsed = Board.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file} is no board:\n${z.prettifyError(parsed.error)}`);
  const { name, epics, stories } = parsed.data;
  const specs = new Map<string, string>();
  for (const { localId, specFile } of stories) {
    if (specFile === undefined) continue;
    specs.set(localId, await readFile(path.resolve(path.dirname(file), specFile), 'utf8'));
  }
  return { path: file, name: name ?? path.basename(path.dirname(path.resolve(file))), epics, stories, specs };
}
