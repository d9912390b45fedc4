/** Parses PromQL by Prometheus' own grammar: checks its syntax and finds the series that it selects. */
import { parser } from '@prometheus-io/lezer-promql';

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** Labels that the surrounding aggregations keep. */
  readonly groupedBy: readonly string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

const children = (node: Node, name: string): Node[] => node.getChildren(name);

/** Yields every descendant node with the given name. */
function* below(node: Node, name: string): Generator<Node> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name === name) yield child;
    yield* below(child, name);
  }
}

/** Returns the selectors of a query. Throws if it is not valid PromQL. */
export function selectorsIn(promql: string): Selector[] {
  const { topNode } = parser.parse(promql);
  for (const error of below(topNode, '⚠'))
    throw new Error(`this is no PromQL from ${error.from} on: ${promql.slice(error.from)}`);
  const text = ({ from, to }: Node): string => promql.slice(from, to);
  const unquoted = (node: Node): string => text(node).slice(1, -1);

  /** Labels named in `by (…)` of the surrounding aggregations. A series must have them. */
  const groupedAround = (node: Node): string[] => {
    const labels: string[] = [];
    for (let at = node.parent; at !== null; at = at.parent) {
      if (at.name !== 'AggregateExpr') continue;
      for (const modifier of children(at, 'AggregateModifier')) {
        if (modifier.getChild('By') === null) continue;
        labels.push(...[...below(modifier, 'LabelName')].map(text));
      }
    }
    return labels;
  };

  return [...below(topNode, 'VectorSelector')].map((selector) => {
    const identifier = selector.getChild('Identifier');
    if (identifier === null) throw new Error(`a selector without the name of a metric: ${promql}`);
    const matchers = [...below(selector, 'UnquotedLabelMatcher')].map((matcher) => {
      const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) =>
        matcher.getChild(name),
      );
      if (label == null || operator == null || value == null) throw new Error(`an odd matcher: ${promql}`);
      return { label: text(label), operator: text(operator), value: unquoted(value) };
    });
    return { metric: text(identifier), matchers, groupedBy: groupedAround(selector) };
  });
}
