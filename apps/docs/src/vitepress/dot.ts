/** Converts a Mermaid state diagram, as in docs/states.md, to the language of Graphviz. */

const arrow = /^(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?$/;
const namedGroup = /^state "(.+)" as (\w+)( \{)?$/;
const member = /^(\w+)$/;

const quoted = (text: string): string => `"${text.replaceAll('"', '\\"')}"`;

interface Group {
  readonly label: string;
  readonly members: string[];
}

/** Throws on an unknown line, since an incomplete diagram would be wrong. */
export function dotOf(mermaid: string): string {
  const groups = new Map<string, Group>();
  const arrows: [from: string, to: string, label: string][] = [];
  let inside: Group | undefined;
  for (const line of mermaid.split('\n').map((one) => one.trim())) {
    const [, from, to, label = ''] = arrow.exec(line) ?? [];
    const [, title, name, opens] = namedGroup.exec(line) ?? [];
    const [, state] = member.exec(line) ?? [];
    if (line === '' || line === 'stateDiagram-v2') continue;
    if (line === '}') inside = undefined;
    else if (from !== undefined && to !== undefined) arrows.push([from, to, label]);
    else if (title !== undefined && name !== undefined) {
      const group: Group = { label: title, members: [] };
      groups.set(name, group);
      if (opens !== undefined) inside = group;
    } else if (state !== undefined && inside !== undefined) inside.members.push(state);
    else throw new Error(`this line of a diagram cannot be drawn: ${line}`);
  }
  // Graphviz draws no arrows to groups of states. An arrow ends at the first state of the group and is
  // clipped at the group's border.
  const end = (name: string): string => groups.get(name)?.members[0] ?? name;
  const isDrawn = (name: string): boolean => (groups.get(name)?.members.length ?? 0) > 0;
  const lines = [...groups].map(([name, { label, members }]) =>
    members.length === 0
      ? `${quoted(name)} [label=${quoted(label)}, style="rounded,dashed"]`
      : `subgraph cluster_${name} { label=${quoted(label)}; labelloc=b; style="rounded,dashed"; ${members.map(quoted).join('; ')} }`,
  );
  const drawn = arrows.map(([from, to, label]) => {
    const more = [
      ...(label === '' ? [] : [`label=${quoted(label)}`]),
      ...(isDrawn(from) ? [`ltail=cluster_${from}`] : []),
      ...(isDrawn(to) ? [`lhead=cluster_${to}`] : []),
    ];
    return `${quoted(end(from))} -> ${quoted(end(to))} [${more.join(', ')}]`;
  });
  return [
    'digraph {',
    'compound=true; bgcolor=transparent; nodesep=0.4; ranksep=0.55',
    'graph [fontname="sans-serif", fontsize=11]',
    'node [shape=box, style=rounded, fontname="sans-serif", fontsize=12, height=0.35]',
    'edge [fontname="sans-serif", fontsize=10, arrowsize=0.6]',
    '"[*]" [label="", shape=circle, style=filled, fillcolor=black, width=0.15, height=0.15, fixedsize=true]',
    ...lines,
    ...drawn,
    '}',
  ]
    .filter((line) => !line.startsWith('"[*]"') || arrows.some((one) => one.includes('[*]')))
    .join('\n');
}
