/** The prompt of an agent: the story with its context, and the rules for work in this folder. */
import { type Client } from '@muster/client';
import { maxContextBytes, type StoryContext } from '@muster/contract';
import { type StoryWork } from './journal.ts';
import { type AgentProtocol } from './known-agents.ts';

/**
 * The byte budget of the context. As an argument of a command it must fit the system limit, which is 128 KiB
 * on Linux.
 */
const contextBudgetBytes = 88 * 1024;

const markdownSection = (title: string, text: string | null | undefined): string[] =>
  text === null || text === undefined || text.trim() === '' ? [] : [`## ${title}\n\n${text.trim()}`];

type ThreadComment = NonNullable<StoryContext['openThreads']>[number]['replies'][number];

/** Formats the author, with the importer who named that author if the comment was not written in Muster. */
const formatAuthor = ({ author, importedBy, importedFrom }: ThreadComment): string =>
  importedBy === null
    ? author.name
    : `${author.name}, imported by ${importedBy.name} from ${importedFrom ?? 'another tracker'}`;

export function formatThreads({ openThreads }: Pick<StoryContext, 'openThreads'>): string {
  return (openThreads ?? [])
    .map((thread) =>
      [
        `- ${formatAuthor(thread)} (${thread.kind}): ${thread.body ?? ''}`,
        ...thread.replies.map((reply) => `  - ${formatAuthor(reply)}: ${reply.body ?? ''}`),
      ].join('\n'),
    )
    .join('\n');
}

function formatCheckpoint({ execution }: StoryContext): string {
  const checkpoint = execution?.checkpoint;
  if (checkpoint === null || checkpoint === undefined) return '';
  const next = checkpoint.nextSteps.map((step) => `- ${step}`).join('\n');
  return [checkpoint.summary, next === '' ? '' : `Next:\n${next}`].filter((part) => part !== '').join('\n\n');
}

/** Ends a shortened text after its last complete line. A text of one line is returned unchanged. */
const cutAtLastLine = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1) || text;

/** Lists the shortened sections with the commands that read the rest of them. */
function describeTruncation({ truncated }: StoryContext, key: string): string {
  const others = truncated.filter((name) => name !== 'spec');
  return [
    ...(truncated.includes('spec')
      ? [
          `The spec was shortened to fit. Before you start, read all of it: muster story-spec get --story-id ${key}`,
        ]
      : []),
    ...(others.length > 0
      ? [
          `These sections were shortened to fit: ${others.join(', ')}. To read more of them: muster story-collaboration context --story-id ${key} ${others.map((name) => `--include ${name}`).join(' ')} --max-bytes ${maxContextBytes}`,
        ]
      : []),
  ].join('\n\n');
}

const endingByProtocol: Readonly<Record<AgentProtocol, string>> = {
  acp: 'your turn ends',
  command: 'you end with exit code 0',
};

const workRules = (work: StoryWork, protocol: AgentProtocol): string =>
  `You work in your own git worktree, on the branch ${work.branch}. Stay in it. Commit as you see fit: uncommitted changes are committed when you end. The runner pushes the branch and submits the work when ${endingByProtocol[protocol]}; do neither yourself. MUSTER_PROMPT_FILE names a file with this text. MUSTER_SIGNALS names a file to which events from others are appended, one JSON object per line. To ask a person, run muster ask "Your question?": it waits for the answer and prints it. With --no-wait it does not wait; if you end while your question is open, you are started again with the answer. If you cannot finish, write a JSON object to the file that MUSTER_RESULT names: {"outcome": "handoff" | "failed", "summary": "what is done, and what is left"}.`;

/** Builds the complete prompt for one start. `note` has the news since the previous start. */
export async function buildPrompt(
  client: Client,
  work: StoryWork,
  { protocol, note }: { readonly protocol: AgentProtocol; readonly note: string | undefined },
): Promise<string> {
  const context = await client.storyCollaboration.context({
    storyId: work.storyId,
    maxBytes: contextBudgetBytes,
    include: ['story', 'epic', 'spec', 'openThreads', 'rework', 'execution', 'prompts', 'contracts'],
  });
  const { story, epic, spec, rework, prompts, contracts, truncated } = context;
  return [
    `# ${work.key}: ${story?.title ?? work.title}`,
    ...markdownSection('What is new', note),
    ...markdownSection('How you work here', workRules(work, protocol)),
    ...markdownSection('Changes that a reviewer requested', rework?.note),
    ...markdownSection('Description', story?.description),
    ...markdownSection('Epic', epic?.title),
    ...markdownSection(
      'Spec',
      spec !== null && truncated.includes('spec') ? cutAtLastLine(spec.content) : spec?.content,
    ),
    ...markdownSection('Open threads', formatThreads(context)),
    ...markdownSection('Where the work stands', formatCheckpoint(context)),
    ...(prompts ?? []).flatMap(({ title, body }) => markdownSection(title, body)),
    ...(contracts ?? []).flatMap(({ slug, content }) => markdownSection(`Contract ${slug}`, content)),
    ...markdownSection('Left out', describeTruncation(context, work.key)),
  ]
    .join('\n\n')
    .concat('\n');
}
