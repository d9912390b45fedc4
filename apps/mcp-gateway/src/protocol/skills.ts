/**
 * Serves the skill for agents over MCP (extension `io.modelcontextprotocol/skills`, SEP-2640): its entry by
 * `skills/list` and `skills/get`, and its file as a resource. It is the same for every caller.
 */
import { createHash } from 'node:crypto';
import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { skillFrontmatter, skillName, skillText } from '@muster/reference/skill';
import { z } from 'zod';

export const skillsExtension = 'io.modelcontextprotocol/skills';

const skillUri = `skill://${skillName}/SKILL.md`;

const skillEntry = {
  uri: skillUri,
  frontmatter: skillFrontmatter,
  resources: [
    {
      uri: skillUri,
      digest: `sha256:${createHash('sha256').update(skillText).digest('hex')}`,
      size: Buffer.byteLength(skillText),
    },
  ],
};

/** The skill changes only with the release of the server. */
const skillCacheHint = { ttlMs: 300_000, cacheScope: 'public' } as const;

const ListParams = z.looseObject({ cursor: z.string().optional() });
const GetParams = z.looseObject({ uri: z.string() });

const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** Adds the methods of the extension. */
export function addSkillMethods({ server }: McpServer): void {
  server.setRequestHandler('skills/list', { params: ListParams }, ({ cursor }) => {
    if (cursor !== undefined) throw invalidParams('cursor: this list has only one page.');
    return { skills: [skillEntry], ...skillCacheHint };
  });
  server.setRequestHandler('skills/get', { params: GetParams }, ({ uri }) => {
    if (uri !== skillUri) throw invalidParams(`uri: there is no such skill; skills/list has ${skillUri}.`);
    return { skill: skillEntry, ...skillCacheHint };
  });
}

/** Reads a file of the skill; undefined if the URI names none. */
export const readSkillFile = (uri: string): { uri: string; mimeType: string; text: string }[] | undefined =>
  uri === skillUri ? [{ uri, mimeType: 'text/markdown', text: skillText }] : undefined;
