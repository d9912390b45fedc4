/**
 * Asks a person to confirm irreversible calls, if their client supports elicitation. An argument that a model
 * repeats would not be a confirmation. The gateway keeps no state between the rounds: the client carries the
 * question in a signed request state.
 */
import { createClient, type Transport } from '@muster/client';
import { forbidden, type Operation, type ParamsOf } from '@muster/contract';
import { type Registry, registry } from '@muster/registry';
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
export class ConfirmationRequired extends Error {
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
export interface ConfirmationRound {
  readonly capabilities: ClientCapabilities | undefined;
  /** The state that the client returned from the previous round, after its signature was verified. */
  readonly verifiedState: unknown;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  readonly signState: (state: string) => Promise<string>;
}

/**
 * Asks for confirmation of a call, or returns if a person has given it. Throws `Asking`, or 403 `declined`.
 */
export type ConfirmCall = (operation: Operation, params: AnswerBody) => Promise<void>;

type Client = ReturnType<typeof createClient>;
type ConfirmationQuestion = (params: AnswerBody, client: Client) => Promise<string>;

const confirmationFor = <Name extends Operation>(
  operation: Name,
  question: (params: ParamsOf<Name>, client: Client) => Promise<string>,
): [string, ConfirmationQuestion] => [operation.name, question as unknown as ConfirmationQuestion];

const fetchMemberName = async (client: Client, memberId: string): Promise<string> =>
  (await client.members.profile({ memberId })).member.name;

const { orgs, projects, members, gamification, agents } = registry satisfies Registry;

/**
 * The question for each operation. It uses names rather than ids, because the person who is asked has not
 * seen the call.
 */
const confirmationQuestions: ReadonlyMap<string, ConfirmationQuestion> = new Map([
  confirmationFor(orgs.delete, async (_params, client) => {
    const { org } = await client.session.identity();
    return `Delete the organization ${org.name} (${org.slug}) and everything in it?`;
  }),
  confirmationFor(orgs.transferOwnership, async ({ memberId }, client) => {
    const { org } = await client.session.identity();
    return `Transfer the ownership of ${org.name} from you to ${await fetchMemberName(client, memberId)}?`;
  }),
  confirmationFor(projects.delete, async ({ projectId }, client) => {
    const { project } = await client.projects.get({ projectId });
    return `Delete the project ${project.name} (${project.key}) with all its stories, specs and comments?`;
  }),
  confirmationFor(members.removeMember, async ({ memberId }, client) => {
    const name = await fetchMemberName(client, memberId);
    return `Remove ${name} from the organization? Their tokens are revoked and their work is released.`;
  }),
  confirmationFor(gamification.reset, async ({ memberId }, client) =>
    memberId === undefined
      ? 'Reset the points of all members to zero?'
      : `Reset the points of ${await fetchMemberName(client, memberId)} to zero?`,
  ),
  confirmationFor(
    agents.catalog.delete,
    async ({ slug, version }) =>
      `Delete ${version === undefined ? 'all versions' : `version ${version}`} of ${slug} from the catalog?`,
  ),
]);

export const confirmedOperations: readonly string[] = [...confirmationQuestions.keys()];

const confirmField = 'confirm';
const ConfirmationResponse = z.object({ confirm: z.boolean() });

/**
 * Returns true if the client supports forms. A client that declares elicitation without a kind supports
 * forms.
 */
const supportsForms = (capabilities: ClientCapabilities | undefined): boolean => {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
};

/** Creates the confirmation check for the calls of a request; undefined if its client cannot ask. */
export function createConfirmation(
  { capabilities, verifiedState, responses, signState }: ConfirmationRound,
  transport: Transport,
): ConfirmCall | undefined {
  if (!supportsForms(capabilities)) return undefined;
  return async ({ name }, params) => {
    const ask = confirmationQuestions.get(name);
    if (ask === undefined) return;
    const asked = digest(name, JSON.stringify(params));
    const given = inputResponse(responses, confirmField);
    // The confirmation counts only for this exact call.
    if (verifiedState === asked && given.kind === 'elicit') {
      if (acceptedContent(responses, confirmField, ConfirmationResponse)?.confirm === true) return;
      throw forbidden('declined', 'The person did not confirm this, so nothing was done.');
    }
    const message = `${await ask(params, createClient(transport))} This cannot be undone.`;
    throw new ConfirmationRequired(
      inputRequired({
        inputRequests: {
          [confirmField]: inputRequired.elicit({
            message,
            requestedSchema: {
              type: 'object',
              properties: { [confirmField]: { type: 'boolean', title: 'Yes, do it' } },
              required: [confirmField],
            },
          }),
        },
        requestState: await signState(asked),
      }),
    );
  };
}
