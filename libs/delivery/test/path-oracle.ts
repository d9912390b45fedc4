/**
 * A matcher for lock resources that shares no code with the product's: it translates a glob to a regular
 * expression.
 */

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);

function pieceOf(
  [, char, members, negated]: readonly (string | undefined)[],
  depth: { braces: number },
): string {
  if (members !== undefined) return negated === '!' ? `[^/${members}]` : `[${members}]`;
  switch (char) {
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    case '{':
      depth.braces += 1;
      return '(?:';
    case '}':
      depth.braces -= 1;
      return ')';
    case ',':
      return depth.braces > 0 ? '|' : ',';
    default:
      return escapeRegExp((char ?? '').replace(/^\\/, ''));
  }
}

function segmentOf(segment: string): string {
  const depth = { braces: 0 };
  const pieces = segment.matchAll(/(\\.|[^[])|\[(!?)([^\]]*)\]/gsu);
  return Array.from(pieces, ([, char, negated, members]) =>
    pieceOf(['', char, members, negated], depth),
  ).join('');
}

function expressionOf(glob: string): string {
  const segments = glob.split('/');
  return segments
    .map((segment, index) => {
      const isLast = index === segments.length - 1;
      if (segment === '**') return isLast ? '(?:[^/]+/)*[^/]+' : '(?:[^/]+/)*';
      return segmentOf(segment) + (isLast ? '' : '/');
    })
    .join('');
}

/** Reports whether the glob matches the path. A path without wildcards matches only itself. */
export const matchesGlob = (glob: string, path: string): boolean =>
  new RegExp(`^${expressionOf(glob)}$`, 'su').test(path);

/** Reports whether a lock on the resource covers this path or name. */
export function covers(resource: string, thing: string): boolean {
  if (resource.startsWith('name:') || thing.startsWith('name:')) return resource === thing;
  const plain = resource.replaceAll(/\\(.)/gsu, '$1');
  const hasWildcard = /[*?[{]/.test(resource.replaceAll(/\\./gsu, ''));
  return hasWildcard ? matchesGlob(resource, thing) : thing === plain || thing.startsWith(`${plain}/`);
}
