import { type StoryStatus } from '@muster/registry';
import { demoSpecs } from './demo-specs.ts';

/** Who does something in the demo; the agent works for Chloé. */
export type Person = 'ana' | 'ben' | 'chloe' | 'agent';

export interface DemoComment {
  readonly by: Person;
  readonly body: string;
  readonly kind?: 'comment' | 'question' | 'decision';
  readonly replies?: readonly { readonly by: Person; readonly body: string }[];
  readonly reactions?: readonly { readonly by: Person; readonly emoji: string }[];
  readonly resolvedBy?: Person;
}

export interface DemoStory {
  readonly title: string;
  readonly epic?: keyof typeof demoEpics;
  /** Where it has got to; it gets there step by step, as real stories do. */
  readonly status: StoryStatus;
  readonly by: Person;
  readonly priority?: 'low' | 'medium' | 'high' | 'urgent';
  readonly labels?: readonly string[];
  readonly estimate?: number;
  readonly description?: string;
  readonly spec?: string;
  /** Titles of stories above it in this list. */
  readonly blockedBy?: readonly string[];
  readonly comments?: readonly DemoComment[];
}

export const demoEpics = {
  checkout: {
    title: 'Checkout without an account',
    description:
      'A third of baskets are left at the sign-in page. Let people buy first and register later, or never.',
    color: '#3366cc',
    targetDate: '2027-01-29',
  },
  search: {
    title: 'Search that finds it',
    description: 'One in five searches has no result although we sell the thing.',
    color: '#8a4fbf',
    targetDate: '2027-02-26',
  },
  speed: {
    title: 'Pages in under a second',
    description:
      'The product page takes 3.4 s on a mid-range phone. Goal: largest paint within 1 s at the 75th percentile.',
    color: '#cc7a1f',
  },
  tracking: {
    title: 'Where is my order?',
    description: 'Half of what support answers is this question.',
    color: '#2f8f5b',
  },
} as const;

export const demoStories: readonly DemoStory[] = [
  {
    title: 'Let a guest reach payment without signing in',
    epic: 'checkout',
    status: 'done',
    by: 'ana',
    priority: 'high',
    labels: ['checkout', 'frontend'],
    estimate: 8,
    spec: demoSpecs.guest,
    comments: [
      {
        by: 'ben',
        kind: 'decision',
        body: 'We ask for the e-mail on the address step, not before: the test with both orders was clear (+6 % completed).',
        reactions: [
          { by: 'ana', emoji: '👍' },
          { by: 'chloe', emoji: '🎉' },
        ],
      },
    ],
  },
  {
    title: 'Keep the basket for 30 days',
    epic: 'checkout',
    status: 'done',
    by: 'ben',
    labels: ['checkout', 'backend'],
    estimate: 3,
  },
  {
    title: 'Compute tax from the delivery address',
    epic: 'checkout',
    status: 'in_review',
    by: 'chloe',
    priority: 'high',
    labels: ['checkout', 'backend'],
    estimate: 5,
    description: 'Today it is the billing address, which is wrong for gifts across a border.',
    comments: [
      {
        by: 'chloe',
        kind: 'question',
        body: '@ben what do we do with an address that the tax service does not know?',
        replies: [
          {
            by: 'ben',
            body: 'Take the rate of the country and flag the order. @ana is that fine for bookkeeping?',
          },
          { by: 'ana', body: 'Yes, as long as the flag shows in the export.' },
        ],
        resolvedBy: 'chloe',
      },
    ],
  },
  {
    title: 'Offer a passkey on the thank-you page',
    epic: 'checkout',
    status: 'in_progress',
    by: 'ana',
    priority: 'medium',
    labels: ['auth', 'frontend'],
    estimate: 8,
    spec: demoSpecs.passkey,
    blockedBy: ['Let a guest reach payment without signing in'],
    comments: [
      {
        by: 'agent',
        body: 'The browser tests pass on all but Firefox for Android, which has no conditional mediation yet. I fall back to the button there.',
        replies: [{ by: 'chloe', body: 'Good. Please note it in the spec too.' }],
      },
    ],
  },
  {
    title: 'Mail a receipt to guests',
    epic: 'checkout',
    status: 'ready',
    by: 'ben',
    priority: 'medium',
    labels: ['email'],
    estimate: 2,
  },
  {
    title: 'Turn a guest into a customer when the addresses match',
    epic: 'checkout',
    status: 'backlog',
    by: 'ana',
    labels: ['auth', 'backend'],
    estimate: 5,
    blockedBy: ['Offer a passkey on the thank-you page'],
  },
  {
    title: 'Gift cards for guests',
    epic: 'checkout',
    status: 'canceled',
    by: 'ben',
    labels: ['checkout'],
    comments: [{ by: 'ana', kind: 'decision', body: 'Not this year: 0.4 % of orders, and a lot of abuse.' }],
  },
  {
    title: 'Synonyms that editors keep themselves',
    epic: 'search',
    status: 'in_progress',
    by: 'ben',
    priority: 'high',
    labels: ['search', 'backend'],
    estimate: 8,
    spec: demoSpecs.synonym,
    comments: [
      {
        by: 'agent',
        kind: 'question',
        body: 'Should "tee" still find the three products that have the word in their name? With an arrow it would not.',
        replies: [{ by: 'ben', body: 'Yes: the arrow adds, it never takes away.' }],
      },
    ],
  },
  {
    title: 'Forgive one typing error in a word',
    epic: 'search',
    status: 'ready',
    by: 'chloe',
    priority: 'medium',
    labels: ['search'],
    estimate: 5,
  },
  {
    title: 'Show what others searched when there is no result',
    epic: 'search',
    status: 'backlog',
    by: 'chloe',
    labels: ['search', 'frontend'],
    estimate: 3,
    blockedBy: ['Forgive one typing error in a word'],
  },
  {
    title: 'Count searches without result',
    epic: 'search',
    status: 'done',
    by: 'ben',
    labels: ['search', 'analytics'],
    estimate: 1,
  },
  {
    title: 'Filters remember their place when going back',
    epic: 'search',
    status: 'in_review',
    by: 'chloe',
    priority: 'medium',
    labels: ['frontend', 'bug'],
    estimate: 2,
    comments: [
      {
        by: 'ben',
        body: 'Works here. One thing, @chloe: on iOS the list jumps once when the images come in.',
        reactions: [{ by: 'chloe', emoji: '👀' }],
      },
    ],
  },
  {
    title: 'Serve images in the size they are shown',
    epic: 'speed',
    status: 'in_review',
    by: 'ana',
    priority: 'high',
    labels: ['performance', 'frontend'],
    estimate: 5,
    spec: demoSpecs.image,
    comments: [
      {
        by: 'agent',
        body: 'Measured on the staging product page, median of nine: largest paint 3.4 s → 1.6 s, bytes 2.1 MB → 480 KB.',
        reactions: [
          { by: 'ana', emoji: '🚀' },
          { by: 'ben', emoji: '🚀' },
        ],
      },
    ],
  },
  {
    title: 'Drop the second analytics script',
    epic: 'speed',
    status: 'done',
    by: 'chloe',
    labels: ['performance', 'analytics'],
    estimate: 1,
  },
  {
    title: 'Cache product pages at the edge for a minute',
    epic: 'speed',
    status: 'in_progress',
    by: 'ben',
    priority: 'medium',
    labels: ['performance', 'ops'],
    estimate: 5,
    blockedBy: ['Serve images in the size they are shown'],
  },
  {
    title: 'Fail the build when a page gets heavier by 10 %',
    epic: 'speed',
    status: 'ready',
    by: 'ana',
    labels: ['performance', 'ci'],
    estimate: 3,
  },
  {
    title: 'Load reviews when they come into view',
    epic: 'speed',
    status: 'backlog',
    by: 'chloe',
    priority: 'low',
    labels: ['performance', 'frontend'],
    estimate: 2,
  },
  {
    title: 'A page that says where the order is',
    epic: 'tracking',
    status: 'ready',
    by: 'ana',
    priority: 'high',
    labels: ['orders', 'frontend'],
    estimate: 8,
    comments: [
      {
        by: 'ana',
        body: 'Support sends this one link in every second answer. @chloe @ben let us start it as soon as the tax story is through.',
      },
    ],
  },
  {
    title: 'Read the carriers’ events every ten minutes',
    epic: 'tracking',
    status: 'backlog',
    by: 'ben',
    priority: 'medium',
    labels: ['orders', 'backend'],
    estimate: 5,
  },
  {
    title: 'Tell the customer when a delivery is late, before they ask',
    epic: 'tracking',
    status: 'backlog',
    by: 'ana',
    labels: ['orders', 'email'],
    estimate: 5,
    blockedBy: ['Read the carriers’ events every ten minutes', 'A page that says where the order is'],
  },
  {
    title: 'Link from the confirmation mail without signing in',
    epic: 'tracking',
    status: 'backlog',
    by: 'chloe',
    labels: ['orders', 'auth'],
    estimate: 3,
  },
  {
    title: 'Prices of 0.00 for a second while the basket loads',
    status: 'done',
    by: 'chloe',
    priority: 'urgent',
    labels: ['bug', 'checkout'],
    comments: [
      {
        by: 'ben',
        body: 'Seen by four customers this morning.',
        replies: [
          { by: 'chloe', body: 'Fixed and live. The skeleton now shows no price until there is one.' },
        ],
        resolvedBy: 'ben',
      },
    ],
  },
  {
    title: 'Move the session store to Valkey 8',
    status: 'in_progress',
    by: 'ben',
    labels: ['ops'],
    estimate: 3,
  },
  {
    title: 'Rotate the payment provider’s keys',
    status: 'ready',
    by: 'ana',
    priority: 'urgent',
    labels: ['security', 'ops'],
    estimate: 1,
    description: 'They expire on 15 December. Both keys are valid for a week, so no downtime is needed.',
  },
  {
    title: 'Contrast of disabled buttons is below 3:1',
    status: 'backlog',
    by: 'chloe',
    priority: 'low',
    labels: ['accessibility', 'bug'],
    estimate: 1,
  },
  {
    title: 'Try the new date picker',
    status: 'canceled',
    by: 'chloe',
    labels: ['frontend'],
  },
];
