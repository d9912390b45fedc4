/**
 * Asks a person to confirm irreversible calls, if their client supports elicitation. An argument that a model
 * repeats would not be a confirmation. The gateway keeps no state between the rounds: the client carries the
 * question in a signed request state.
 */
import { createClient, type Transport } from '@muster/client';
import { forbidden, type Operation, type ParamsOf, type Registry, registry } from '@muster/registry';
import {
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  acceptedContent,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type AnswerBody } from '../answers/answers.ts';
import { digest } from './intents.ts';

/** An error that carries the question which the client must ask a person before the call continues. */
export class Asking extends Error {
  readonly result: InputRequiredResult;
  constructor(result: InputRequiredResult) {
    super('a person is asked');
    this.name = 'Asking';
    this.result = result;
  }
}

/**
 * The data of a request that the confirmation check needs. A request has one round per question to the
 * client.
 */
export interface Round {
  readonly capabilities: ClientCapabilities | undefined;
  /** The state that the client returned from the previous round, after its signature was verified. */
  readonly state: unknown;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  readonly seal: (state: string) => Promise<string>;
}

/**
 * Asks for confirmation of a call, or returns if a person has given it. Throws `Asking`, or 403 `declined`.
 */
export type Confirm = (operation: Operation, params: AnswerBody) => Promise<void>;

type Client = ReturnType<typeof createClient>;
type Question = (params: AnswerBody, client: Client) => Promise<string>;

const asks = <Name extends Operation>(
  operation: Name,
  question: (params: ParamsOf<Name>, client: Client) => Promise<string>,
): [string, Question] => [operation.name, question as unknown as Question];

const nameOf = async (client: Client, memberId: string): Promise<string> =>
  (await client.members.profile({ memberId })).member.name;

const { orgs, projects, members, gamification, agents } = registry satisfies Registry;

/**
 * The question for each operation. It uses names rather than ids, because the person who is asked has not
 * seen the call.
 */
const questions: ReadonlyMap<string, Question> = new Map([
  asks(orgs.delete, async (_params, client) => {
    const { org } = await client.session.identity();
    return `Delete the organization ${org.name} (${org.slug}) and everything in it?`;
  }),
  asks(orgs.transferOwnership, async ({ memberId }, client) => {
    const { org } = await client.session.identity();
    return `Transfer the ownership of ${org.name} from you to ${await nameOf(client, memberId)}?`;
  }),
  asks(projects.delete, async ({ projectId }, client) => {
    const { project } = await client.projects.get({ projectId });
    return `Delete the project ${project.name} (${project.key}) with all its stories, specs and comments?`;
  }),
  asks(members.removeMember, async ({ memberId }, client) => {
    const name = await nameOf(client, memberId);
    return `Remove ${name} from the organization? Their tokens are revoked and their work is released.`;
  }),
  asks(gamification.reset, async ({ memberId }, client) =>
    memberId === undefined
      ? 'Reset the points of all members to zero?'
      : `Reset the points of ${await nameOf(client, memberId)} to zero?`,
  ),
  asks(
    agents.catalog.delete,
    async ({ slug, version }) =>
      `Delete ${version === undefined ? 'all versions' : `version ${version}`} of ${slug} from the catalog?`,
  ),
]);

export const confirmedOperations: readonly string[] = [...questions.keys()];

const question = 'confirm';
const Confirmed = z.object({ confirm: z.boolean() });

/**
 * Returns true if the client supports forms. A client that declares elicitation without a kind supports
 * forms.
 */
const canAsk = (capabilities: ClientCapabilities | undefined): boolean => {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
};

/** Creates the confirmation check for the calls of a request; undefined if its client cannot ask. */
export function confirmBy(
  { capabilities, state, responses, seal }: Round,
  transport: Transport,
): Confirm | undefined {
  if (!canAsk(capabilities)) return undefined;
  return async ({ name }, params) => {
    const ask = questions.get(name);
    if (ask === undefined) return;
    const asked = digest(name, JSON.stringify(params));
    const given = inputResponse(responses, question);
    // The confirmation counts only for this exact call.
    if (state === asked && given.kind === 'elicit') {
      if (acceptedContent(responses, question, Confirmed)?.confirm === true) return;
      throw forbidden('declined', 'The person did not confirm this, so nothing was done.');
    }
    const message = `${await ask(params, createClient(transport))} This cannot be undone.`;
    throw new Asking(
      inputRequired({
        inputRequests: {
          [question]: inputRequired.elicit({
            message,
            requestedSchema: {
              type: 'object',
              properties: { [question]: { type: 'boolean', title: 'Yes, do it' } },
              required: [question],
            },
          }),
        },
        requestState: await seal(asked),
      }),
    );
  };
}
