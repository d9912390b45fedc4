/** What clients can read beside tools: a story, its spec as Markdown, the events of an execution. */
import { createClient, MusterError } from '@muster/client';
import { type ReadResourceResult, type ResourceTemplateType } from '@modelcontextprotocol/server';
import { type Session } from './session.ts';
import { eventsUri, specUri, storyUri, variableIn } from './uris.ts';

export const resourceTemplates: ResourceTemplateType[] = [
  {
    uriTemplate: storyUri,
    name: 'story',
    title: 'A story',
    description: 'A story by its id or key, such as WEB-42',
    mimeType: 'application/json',
  },
  {
    uriTemplate: specUri,
    name: 'story-spec',
    title: 'The spec of a story',
    description: 'The whole spec, of any length, as Markdown',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: eventsUri,
    name: 'execution-events',
    title: 'The events of an execution',
    description: 'The first 200 events of an execution, in order; deliveryExecutions_eventsSince goes on',
    mimeType: 'application/json',
  },
];

type Contents = ReadResourceResult['contents'];

const json = (uri: string, value: unknown): Contents => [
  { uri, mimeType: 'application/json', text: JSON.stringify(value) },
];

/** The resource, or undefined where nothing has this address or the caller may not see it. */
export async function readResource(uri: string, { transport }: Session): Promise<Contents | undefined> {
  const client = createClient(transport);
  const ofSpec = variableIn(specUri, uri);
  const ofStory = variableIn(storyUri, uri);
  const ofEvents = variableIn(eventsUri, uri);
  try {
    if (ofSpec !== undefined) {
      const { spec } = await client.storySpec.get({ storyId: ofSpec });
      return [{ uri, mimeType: 'text/markdown', text: spec.content }];
    }
    if (ofStory !== undefined) return json(uri, await client.stories.get({ storyId: ofStory }));
    if (ofEvents !== undefined)
      return json(uri, await client.deliveryExecutions.eventsSince({ executionId: ofEvents, limit: 200 }));
    return undefined;
  } catch (failure) {
    // An id of no known form is the address of nothing.
    if (failure instanceof MusterError && (failure.status === 404 || failure.status === 400))
      return undefined;
    throw failure;
  }
}
