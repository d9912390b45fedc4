/**
 * Explains how to read the rest of a story's context. The API cuts its sections itself and names them in
 * `truncated`.
 */
import { registry } from '@muster/registry';
import { type AnswerBody, type ShortenedParts } from './answers.ts';
import { toolNameOf } from '../tools/tools.ts';

/** The call that reads a spec. With the core tools, the operation is called through `call_read_operation`. */
const specReadCall = `${toolNameOf(registry.storySpec.get.name)} (or call_read_operation ${registry.storySpec.get.name})`;
const contextToolName = toolNameOf(registry.storyCollaboration.context.name);

const textFieldOf = (record: unknown, name: string): string | undefined => {
  const value = typeof record === 'object' && record !== null ? (record as AnswerBody)[name] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/**
 * Lists the shortened parts of a context and the calls that read the rest; undefined if the context is
 * complete. `storyId` is the id or key that the caller gave.
 */
export function describeContextCuts(context: AnswerBody, storyId: string): ShortenedParts | undefined {
  const { truncated, story, spec } = context;
  if (!Array.isArray(truncated) || truncated.length === 0) return undefined;
  const sections = truncated.map(String);
  const key = textFieldOf(story, 'key') ?? storyId;
  const content = textFieldOf(spec, 'content');
  const parts = sections.map((section) =>
    section === 'spec' && content !== undefined
      ? { path: 'spec.content', shown: content.length, next: `spec.content@${content.length}` }
      : { path: section },
  );
  const others = sections.filter((section) => section !== 'spec');
  const how = [
    ...(sections.includes('spec')
      ? [
          `The spec is incomplete. Before you start the work, read all of the spec: call ${specReadCall} with storyId ${key}${content === undefined ? '' : ' and part set to next'} until the answer has no cut.`,
        ]
      : []),
    ...(others.length > 0
      ? [`${others.join(', ')}: call ${contextToolName} with storyId ${key}, include and a larger maxBytes.`]
      : []),
  ].join(' ');
  return { parts, how };
}
