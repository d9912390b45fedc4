/** Shortens tools for the core and search lists, in which every token counts. */
import { type Tool } from '@modelcontextprotocol/server';
import { registry } from '@muster/registry';
import { asInputSchema, toolTitleOf, toolNameOf } from './tools.ts';
import { type ObjectSchema } from './schemas.ts';

/**
 * Parameters that a model rarely needs. Short tool schemas omit them, but calls may contain them.
 * `describe_operation` shows them.
 */
const rareParameters: Readonly<Record<string, readonly string[]>> = {
  [toolNameOf(registry.session.identity.name)]: ['maxBytes', 'part'],
  [toolNameOf(registry.stories.list.name)]: ['columnId', 'storyIds', 'updatedSince'],
  [toolNameOf(registry.comments.create.name)]: ['anchor', 'codeAnchor'],
  [toolNameOf(registry.deliveryExecutions.checkpoint.name)]: ['data', 'expectedSeq'],
  [toolNameOf(registry.reviewers.setVerdict.name)]: ['diffHash'],
};

/** Values that a client assumes for omitted hints, as the protocol defines. */
const assumedAnnotations: NonNullable<Tool['annotations']> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/**
 * Returns the hints that differ from the protocol's defaults. For a read, `destructiveHint` and
 * `idempotentHint` have no meaning.
 */
function nonDefaultHints(annotations: Tool['annotations'] = {}): Tool['annotations'] {
  const { readOnlyHint, openWorldHint } = annotations;
  const telling = readOnlyHint === true ? { readOnlyHint, openWorldHint } : annotations;
  return Object.fromEntries(
    Object.entries(telling).filter(
      ([hint, value]) => assumedAnnotations[hint as keyof typeof assumedAnnotations] !== value,
    ),
  );
}

export function shortenTool(tool: Tool): Tool {
  const rare = rareParameters[tool.name] ?? [];
  const schema = tool.inputSchema as ObjectSchema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).filter(([name]) => !rare.includes(name)),
  );
  const { title, ...untitled } = tool;
  return {
    // Omit a title that only repeats the name: clients then show the name.
    ...(title === toolTitleOf(tool.name) ? untitled : tool),
    inputSchema: asInputSchema({ ...schema, properties }),
    annotations: nonDefaultHints(tool.annotations),
  };
}
