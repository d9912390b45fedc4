/** The command `muster ask`: asks a question on the current story and waits for its answer. */
import { type Client, createClient, followActivity } from '@muster/client';
import { type Comment, type EventKind } from '@muster/contract';
import { terminalSafeJson, sanitizeForTerminal, UsageError } from '@muster/terminal';
import { type Command } from 'commander';
import { PartialRefusalError } from '../failures.ts';
import { createRetryingTransport, longRetrySeconds } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';

interface AskFlags extends ConnectionFlags {
  readonly story?: string;
  readonly to?: string;
  readonly option?: string[];
  /**
   * False if `--no-wait` was given, otherwise undefined. Commander sets no default for the flags of a command
   * that is filled lazily.
   */
  readonly wait?: boolean;
  readonly json?: boolean;
}

export function configureAskCommand(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Asks a question on a story, waits until a member resolves it, and prints the answer. An agent started by muster work needs no flags: its story and token are in its environment, and its work waits for the answer.',
      )
      .argument('<question>', 'the question, in Markdown')
      .option('--story <story>', 'the story of the question, such as WEB-12; by default MUSTER_STORY')
      .option('--to <member>', 'the id of the member who knows the answer')
      .option('--option <answer...>', 'answers to choose from, at most 5')
      .option('--no-wait', 'do not wait for the answer')
      .option('--json', 'print the question and its replies as JSON, for scripts')
      .addHelpText(
        'after',
        `
Examples:
  muster ask "Do we keep the password as a fallback?" --option yes no
  muster ask --story WEB-12 --no-wait "Which time zone do reports use?"`,
      ),
  ).action(askQuestion);
}

async function askQuestion(question: string, flags: AskFlags): Promise<void> {
  const storyId = flags.story ?? process.env['MUSTER_STORY'] ?? '';
  if (storyId === '') throw new UsageError('no story is given: use --story or set MUSTER_STORY');
  const client = createClient(
    createRetryingTransport(await findConnection(flags), { retryTimeoutSeconds: longRetrySeconds }),
  );
  // The cursor is fetched before the question is asked, so that no answer is missed, however early it
  // arrives.
  const { cursor } = await client.events.list({ after: 'latest', limit: 1 });
  const { comment } = await client.comments.create({
    ...{ storyId, body: question, kind: 'question' },
    ...(flags.to !== undefined && { directedTo: flags.to }),
    ...(flags.option !== undefined && { options: flags.option }),
  });
  if (flags.wait === false) {
    printQuestion(flags, { comment, replies: [] }, `Asked on ${storyId}: ${comment.id}`);
    return;
  }
  process.stderr.write(`Asked on ${sanitizeForTerminal(storyId)}. Waiting for the answer…\n`);
  const replies = await waitForAnswer(client, comment, cursor);
  const answer = replies.map(({ author, body }) => `${author.name}: ${body ?? ''}`).join('\n');
  printQuestion(
    flags,
    { comment, replies },
    answer === '' ? 'The question was resolved without a reply.' : answer,
  );
}

function printQuestion(
  { json = false }: AskFlags,
  result: { readonly comment: Comment; readonly replies: readonly Comment[] },
  humanText: string,
): void {
  process.stdout.write(`${json ? terminalSafeJson(result) : sanitizeForTerminal(humanText)}\n`);
}

/** Returns the replies to a question once it is resolved. Throws PartialRefusalError if the question is deleted. */
async function waitForAnswer(
  client: Client,
  { id: commentId, storyId }: Comment,
  afterCursor: string,
): Promise<Comment[]> {
  const kinds: EventKind[] = ['comment.resolved', 'comment.deleted', 'story.deleted'];
  for await (const { kind, subject, data } of followActivity(client, { after: afterCursor, kinds })) {
    if (kind === 'story.deleted' ? subject.id !== storyId : data['commentId'] !== commentId) continue;
    if (kind !== 'comment.resolved')
      throw new PartialRefusalError('the question was deleted before it was answered');
    const replies: Comment[] = [];
    for await (const reply of client.comments.replies.all({ commentId })) replies.push(reply);
    return replies;
  }
  return [];
}
