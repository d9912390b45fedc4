/**
 * Answers a question by a click in Slack. The account must be connected to a member, who replies with the chosen answer
 * and resolves the question, by the same operations as in the console. A job responds in Slack.
 */
import { createHash } from 'node:crypto';
import { lockQuestionForMember, markCommentAsSent } from '@muster/board';
import { type PlainDb, type Pool } from '@muster/driver';
import { type PayloadOf } from '@muster/jobs';
import { findSlackAccountOwner } from '@muster/organizations';
import { type SecretCipher } from '@muster/outbound';
import {
  isSlackResponseUrl,
  type ParsedSlackAnswer,
  slackDeviceIdOf,
  slackResponseSecretOwner,
  type SlackTokens,
} from '@muster/outbound/slack';
import { type Actor, type ApiError, badRequest, notFound } from '@muster/contract';
import { registry } from '@muster/registry';
import { type HandlerEnvironment, runAsSystem, toApiError } from '@muster/runtime';
import { inOrganizationAsSystem, outboxRow, systemAuditFacts } from '@muster/tenancy';
import { type SlackClick } from './click.ts';

export interface SlackAnswerOptions {
  readonly pool: Pool;
  readonly environment: HandlerEnvironment;
  readonly tokens: SlackTokens;
  readonly secretCipher: SecretCipher;
}

export type SlackOutcome =
  | 'answered'
  | 'already_answered'
  /** The click was delivered before. */
  | 'replayed'
  | 'not_connected'
  /** The member may not answer the question. Slack shows the reason. */
  | 'refused';

export interface SlackResult {
  readonly outcome: SlackOutcome;
  readonly orgId: string;
  readonly memberId: string | null;
}

type SlackResponse = PayloadOf<'slack.respond'>['response'];

const invalidClick = (): ApiError => badRequest('Muster did not send this button, or it was changed.');

interface AnsweringMember {
  readonly id: string;
  readonly name: string;
}

/** Answers the question as the member. Throws the refusals of the operations. */
async function answerAs(
  { environment }: SlackAnswerOptions,
  db: PlainDb,
  member: AnsweringMember,
  { orgId, questionId, option }: ParsedSlackAnswer,
  { triggerId }: SlackClick,
): Promise<'answered' | 'already_answered' | 'replayed'> {
  const clickKey = createHash('sha256').update(`slack ${questionId} ${triggerId}`).digest('hex');
  const question = await lockQuestionForMember(db, member.id, questionId, clickKey);
  const answer = question?.options[option];
  if (question === undefined || answer === undefined) throw notFound();
  const { storyId, projectId, isRepeated, isResolved } = question;
  if (isRepeated) return 'replayed';
  if (isResolved) return 'already_answered';
  const actor: Actor = { kind: 'member', memberId: member.id, agentId: null, name: member.name };
  const facts = { ...systemAuditFacts('comments.create', storyId), userAgent: 'Slack' };
  await runAsSystem({ db, orgId, actor, facts, memberId: member.id }, environment, async (perform) => {
    const { comment } = await perform(
      registry.comments.create,
      { id: storyId, projectId },
      { storyId, body: answer, parentId: questionId },
    );
    db.deferToCommit(markCommentAsSent(comment.id, 'slack', clickKey));
    await perform(registry.comments.resolve, { id: questionId, projectId }, { commentId: questionId });
  });
  return 'answered';
}

/** Throws 400 if Muster did not send the button. All other outcomes are shown in Slack. */
export async function answerFromSlack(options: SlackAnswerOptions, click: SlackClick): Promise<SlackResult> {
  const { pool, tokens, secretCipher: seals } = options;
  const parsed = tokens.parseValue(click.value);
  if (parsed === undefined || !isSlackResponseUrl(click.responseUrl)) throw invalidClick();
  const { orgId, questionId } = parsed;
  const { teamId, userId, userName } = click;

  const attempt = (refusal: ApiError | undefined): Promise<SlackResult> =>
    inOrganizationAsSystem(pool, orgId, async (db) => {
      const owner = await findSlackAccountOwner(db, slackDeviceIdOf(click));
      if (owner === undefined || !tokens.isSigned(owner.organizationKey, parsed)) throw invalidClick();
      const { member, organizationKey } = owner;
      const respond = (response: SlackResponse): void => {
        const sealed = seals.encrypt(slackResponseSecretOwner(organizationKey), click.responseUrl);
        db.deferToCommit(outboxRow('slack.respond', { responseUrl: sealed.toString('base64'), response }));
      };
      const result = (outcome: SlackOutcome) => ({ outcome, orgId, memberId: member?.id ?? null });
      if (member === null) {
        respond({ kind: 'connect', teamId, userId, userName });
        return result('not_connected');
      }
      if (refusal !== undefined) {
        respond({ kind: 'refused', message: refusal.message });
        return result('refused');
      }
      const outcome = await answerAs(options, db, member, parsed, click);
      if (outcome !== 'replayed') respond({ kind: 'answered', questionId });
      return result(outcome);
    });
  // A refusal rolls the first transaction back, so the response to it is queued in a second one.
  return attempt(undefined).catch((error: unknown) => {
    const refusal = toApiError(error);
    if (refusal.status >= 500 || refusal.status === 400) throw error;
    return attempt(refusal);
  });
}
