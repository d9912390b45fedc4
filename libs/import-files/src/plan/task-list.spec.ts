import { describe, expect, it } from '@jest/globals';
import { readTaskList } from './task-list.ts';

const specKit = `# Tasks: Sign-in

## Phase 1: Setup
- [x] T001 Create project structure per implementation plan
- [ ] T002 [P] Configure linting in tools/lint.json

## Phase 2: Foundational
- [ ] T003 [P] Store sessions in src/auth/session.ts
- [ ] T004 [P] Store keys in src/auth/keys.ts

**Checkpoint**: Foundation ready

## Phase 3: User Story 1 - Sign in (Priority: P1)
- [ ] T005 [P] [US1] Contract test POST /api/sign-in in tests/contract/sign-in.test.ts
- [ ] T006 [US1] Implement sign-in in src/auth/sign-in.ts (depends on T003, T005)

## Phase 4: User Story 2 - Sign out (Priority: P2)
- [ ] T007 [US2] Implement sign-out in src/auth/sign-out.ts

## Phase 5: Polish
- [ ] T008 Document the API

## Dependencies
- T004 blocks T007
- Tests (T005) before implementation (T006)

\`\`\`
- [ ] T099 An example, which is no task
\`\`\`
`;

const kiro = `# Implementation Plan

- [x] 1. Set up the project structure
  - Create directories
  - _Requirements: 1.1_

- [ ] 2. Implement the data models
- [ ] 2.1 Create the interfaces
  - Write types in src/models/types.ts
- [ ]* 2.2 Write unit tests
- [ ] 3. Wire everything
  - [ ] 3.1 Connect the routes
`;

describe('readTaskList', () => {
  it('reads the tasks of spec-kit with their order, files and labels', () => {
    const items = readTaskList(specKit);
    expect(items.map(({ ref, dependsOn }) => [ref, dependsOn])).toEqual([
      ['T001', []],
      ['T002', ['T001']],
      ['T003', ['T002']],
      ['T004', ['T002']],
      ['T005', ['T003', 'T004']],
      ['T006', ['T003', 'T005']],
      ['T007', ['T003', 'T004']],
      ['T008', ['T006', 'T007']],
    ]);
    expect(items[0]).toEqual({
      ref: 'T001',
      title: 'Create project structure per implementation plan',
      status: 'done',
      dependsOn: [],
    });
    expect(items[4]).toEqual({
      ref: 'T005',
      title: 'Contract test POST /api/sign-in in tests/contract/sign-in.test.ts',
      labels: ['US1'],
      touches: ['tests/contract/sign-in.test.ts'],
      dependsOn: ['T003', 'T004'],
    });
  });

  it('reads the tasks of Kiro with their subtasks, one after another', () => {
    expect(readTaskList(kiro)).toEqual([
      {
        ...{ ref: '1', title: 'Set up the project structure', status: 'done', dependsOn: [] },
        description: '- Create directories\n- _Requirements: 1.1_',
      },
      { ref: '2', title: 'Implement the data models', dependsOn: ['1'] },
      {
        ...{ ref: '2.1', title: 'Create the interfaces', parentRef: '2', dependsOn: ['1'] },
        ...{ description: '- Write types in src/models/types.ts', touches: ['src/models/types.ts'] },
      },
      { ref: '2.2', title: 'Write unit tests', parentRef: '2', dependsOn: ['2.1'] },
      { ref: '3', title: 'Wire everything', dependsOn: ['2'] },
      { ref: '3.1', title: 'Connect the routes', parentRef: '3', dependsOn: ['2'] },
    ]);
  });

  it('reads a plain list without order, with refs made of the titles, nested one level deep', () => {
    const text = [
      '* [ ] **Write docs**',
      '  * [X] Outline',
      '    * [ ] Outline',
      '1. [ ] Übersicht',
      '- Not a task',
    ];
    expect(readTaskList(text.join('\r\n'))).toEqual([
      { ref: 'write-docs', title: 'Write docs' },
      { ref: 'outline', title: 'Outline', status: 'done', parentRef: 'write-docs' },
      { ref: 'outline-2', title: 'Outline', parentRef: 'write-docs' },
      { ref: 'übersicht', title: 'Übersicht' },
    ]);
    expect(readTaskList('# Nothing\n')).toEqual([]);
  });
});
