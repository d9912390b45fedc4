/** Reads the content of the demo's board from demo-stories.yaml. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageReport } from '@muster/contract';
import { parse } from 'yaml';
import { z } from 'zod';

/** The people of the demo. `agent` is an agent that works for Chloé. */
const DemoPerson = z.enum(['ana', 'ben', 'chloe', 'agent']);
export type DemoPerson = z.infer<typeof DemoPerson>;

const Reply = z.strictObject({ by: DemoPerson, body: z.string() });

const DemoComment = Reply.extend({
  kind: z.enum(['comment', 'question', 'decision']).exactOptional(),
  replies: z.array(Reply).default([]),
  reactions: z.array(z.strictObject({ by: DemoPerson, emoji: z.string() })).default([]),
  resolvedBy: DemoPerson.optional(),
});
export type DemoComment = z.infer<typeof DemoComment>;

const DemoStory = z.strictObject({
  title: z.string(),
  epic: z.string().optional(),
  /** The final status, to which the demo moves the story step by step. */
  status: z.enum(['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled']),
  by: DemoPerson,
  priority: z.enum(['low', 'medium', 'high', 'urgent']).exactOptional(),
  labels: z.array(z.string()).default([]),
  estimate: z.int().exactOptional(),
  description: z.string().exactOptional(),
  spec: z.string().optional(),
  /** Titles of the stories that block this story. They precede this story in the file. */
  blockedBy: z.array(z.string()).default([]),
  comments: z.array(DemoComment).default([]),
});
export type DemoStory = z.infer<typeof DemoStory>;

const FinishedStory = z.strictObject({
  title: z.string(),
  by: DemoPerson,
  /** The usage of the agent. */
  usage: UsageReport.exactOptional(),
  /** A question that came up during the work. */
  question: z.string().exactOptional(),
  isReopened: z.boolean().default(false),
});
export type FinishedStory = z.infer<typeof FinishedStory>;

const DemoContent = z.strictObject({
  epics: z.record(
    z.string(),
    z.strictObject({
      title: z.string(),
      description: z.string(),
      color: z.string(),
      targetDate: z.string().exactOptional(),
    }),
  ),
  stories: z.array(DemoStory),
  history: z.array(FinishedStory),
});

const text = await readFile(path.join(import.meta.dirname, 'demo-stories.yaml'), 'utf8');
export const {
  epics: demoEpics,
  stories: demoStories,
  history: demoHistory,
} = DemoContent.parse(parse(text));
