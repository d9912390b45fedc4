export const dates = {
  reference: {
    sha256: '8d3ea8a4461b6eeb2184a9ee6614caaab98cc638f8637aea0e30609e0e4a15ab',
    since: '2026-11-30',
  },
  'reference/deliveryExecutions': {
    sha256: '773cfcb138d9666caa03c115cb06c53739b9a8d8dfd64c655f90c24b3d20a350',
    since: '2026-11-30',
  },
  'reference/deliveryGroups': {
    sha256: 'afbb2b9b54920ae49379644cad98250c02e05804d11dfa907afe7849adc68372',
    since: '2026-11-30',
  },
  'reference/agents': {
    sha256: 'b7789f1560a7b8730e504b8731905b001ed5e335269ef53ef6c6fb2e7f930e57',
    since: '2026-11-30',
  },
  'reference/agents.catalog': {
    sha256: 'c6550dde2f962721050a6ac47c1414fe57f8236c8dd6664410c8e430493f9267',
    since: '2026-11-29',
  },
  'reference/agents.runs': {
    sha256: '6cb2643b0ecffaa043ff2be6044f9f14632eafdb2e0acc0c075019b79e96a148',
    since: '2026-11-30',
  },
  'reference/locks': {
    sha256: 'f068ca7a304f731bf93243b795e31760735c23ea3334c2f98c2f44e07a3213a2',
    since: '2026-11-30',
  },
  'reference/projects': {
    sha256: 'd73893d9e56b26612713d16ee0cbb1965eb726ec98558b2d8e90834d4a92c463',
    since: '2026-11-30',
  },
  'reference/projects.members': {
    sha256: '37b9ebab8d5f0590204ab6fdea163421f79006dc122909815d1bef9c3f100044',
    since: '2026-11-29',
  },
  'reference/projects.teams': {
    sha256: 'b22891171db201102f29ae84b679c2dfbc1d33530afea606ae3cbf0e6edcb422',
    since: '2026-11-29',
  },
  'reference/projects.accessRequests': {
    sha256: 'e2a215eb1f8e35d5295d078bc7211c8aa9d0c3482219d86daaae55c459a73d51',
    since: '2026-11-29',
  },
  'reference/changes': {
    sha256: 'e0bf3e851fb5c039e95254d135f28799269f97809d21e1027d494183b3e5d2a9',
    since: '2026-11-30',
  },
  'reference/usage': {
    sha256: 'ede506c6b0dda17e35dcf73efe6272063cca36cda66cdcc7a0c1b7666b19177e',
    since: '2026-11-30',
  },
  'reference/usage.prices': {
    sha256: '73b07a62b775921c57bb324d0808fac7ae860f61c3213da5687f51a9141e1e2a',
    since: '2026-11-30',
  },
  'reference/budgets': {
    sha256: '8081c3321a82c91c67c68e968332a5f93198a22a382a81f335ba02f93d7a317d',
    since: '2026-11-30',
  },
  'reference/session': {
    sha256: '91f0545469d6d60d26d3d0afab37ca77276d965a72644d2108e123eddea24947',
    since: '2026-11-29',
  },
  'reference/sessions': {
    sha256: '30823adeecb3a9e0b402450747795edcbf8a486f9af276956df8e5444c7650fa',
    since: '2026-11-29',
  },
  'reference/tokens': {
    sha256: '0c9b37ddbce46d91475e81085f48b90e72ebe50d7c81b7f04d49940c26e8397c',
    since: '2026-11-30',
  },
  'reference/connections': {
    sha256: '864e3001cd3768c5eb849fa0530367d8b16afffc68d1d1bf9ce49f77653d76bc',
    since: '2026-11-29',
  },
  'reference/passkeys': {
    sha256: 'f562f069d22ff58a4d74697062cf6b86a4eb7385b7670c402edff5704eca9b52',
    since: '2026-11-29',
  },
  'reference/identityProviders': {
    sha256: '7d101dd3bb8f0a459301407686871e6e1bbb321148b437d6c0f6f30bc2442248',
    since: '2026-11-29',
  },
  'reference/orgs': {
    sha256: '2404e9f26db722aa9eff659cae52fa0c11fa90d592d4645c0418e2bd325dc4c2',
    since: '2026-11-29',
  },
  'reference/members': {
    sha256: 'e5739feedcbe587400379bb32eddcfa84eedcb0fe37704fe539d50651fcc3ad4',
    since: '2026-11-30',
  },
  'reference/invitations': {
    sha256: 'b563e5396721196aa4bd08b149062d9b74419262320e272968948ae299814021',
    since: '2026-11-29',
  },
  'reference/policy': {
    sha256: 'ccb3f2644578aff6be3d8311f00bd87093c471787ed9bd56254ee3f3faea5539',
    since: '2026-11-30',
  },
  'reference/teams': {
    sha256: '9bcc39a6b231babcc84f542fe1e9a7f655b25ba64189e7b67b9c89c1212fe972',
    since: '2026-11-30',
  },
  'reference/teams.members': {
    sha256: '14a9bd9c63b05542c0326bde9d12421264b8fe646ae13244fe8172b7d3e098dc',
    since: '2026-11-30',
  },
  'reference/teams.projects': {
    sha256: '3810c7c0083c090f3c1649ac065264d45ff5e325808fabdff5321236cf51900c',
    since: '2026-11-29',
  },
  'reference/devices': {
    sha256: '1d94aca029853ed22ffd52cc3de62876a357d4cfd86e45ac63ba74b9a8995259',
    since: '2026-11-30',
  },
  'reference/boardColumns': {
    sha256: '562a620dedfc2714c85a6b26361974c309879e67d5e83d76d75f02896757e17c',
    since: '2026-11-29',
  },
  'reference/epics': {
    sha256: 'c9eb3dafef06c5f9aaf714aead13500a0c70b74479beab931afa31a6585861a0',
    since: '2026-11-29',
  },
  'reference/stories': {
    sha256: '7e24b54966fc59a422e5161c6e76e4b6b36d84c09f57732890c95e212ae17f70',
    since: '2026-11-30',
  },
  'reference/storySpec': {
    sha256: '28e25cb798022739655289f4ca6fff19bff78bdfdbfd25bf1e100ebe3a984daf',
    since: '2026-11-30',
  },
  'reference/storyCollaboration': {
    sha256: 'd7a1357b195efb51c0d3b022e899707e40fdb1dd9d8f7973ea9c8be8422ace16',
    since: '2026-11-30',
  },
  'reference/comments': {
    sha256: 'c9579e79120111647fca803a5aeda338633a9ebca29a0bc65727d25a1dd0165e',
    since: '2026-11-30',
  },
  'reference/assignments': {
    sha256: '07a0fce581e22d80380054c03e6d6c2580bf4c5aa258014f23b8e59bec8d1e77',
    since: '2026-11-30',
  },
  'reference/reviewers': {
    sha256: '3ba2131a281140adcb36f1b381aafd0927fc480ef9530da95a0d8c5e2ceefe37',
    since: '2026-11-30',
  },
  'reference/prompts.org': {
    sha256: 'ca494291d05341a2c6524d5f18b4f80e7e55906502f7cc26c9cf60c3d90fd200',
    since: '2026-11-30',
  },
  'reference/prompts.project': {
    sha256: 'bfd3e553bdea6c6b65d396940ad0e638eb33399c8e9bdd91a756737dbdb68d01',
    since: '2026-11-30',
  },
  'reference/contracts': {
    sha256: 'f49a5cf8e96ca2e63a15c074ad4ee7040c89d9403d4841f52073e98f4e90916a',
    since: '2026-11-30',
  },
  'reference/search': {
    sha256: '932341c9de5122156b30406acd8e1aec385ca329790723260e0c3780a96520df',
    since: '2026-11-29',
  },
  'reference/imports': {
    sha256: 'db8e1bbe1c4ffd7c5966261b22e5efae657edc97c45e1b1083661f1c0c0b75b5',
    since: '2026-11-30',
  },
  'reference/plans': {
    sha256: 'e9baa20ba8d579a45b0c36ade60d8fded01af687fd1c08beb32fe73d4a2f71d4',
    since: '2026-11-30',
  },
  'reference/views': {
    sha256: '794b33dc5bd0c049f5474b78d0a879fd3ec5ab8c7dcc5ad38f7b6edad21320fa',
    since: '2026-11-30',
  },
  'reference/attachments': {
    sha256: '67cb6782b0603b28116fc59e70c4defb7e686ac3475173ed56cac29d8641fbf6',
    since: '2026-11-30',
  },
  'reference/exports': {
    sha256: 'd51fbeb9464d8d9ba3c27204eeab22193ae0efbd6e858c033ad22a6ca91f2284',
    since: '2026-11-30',
  },
  'reference/activity': {
    sha256: 'e5bb87c22a081d54590e459ea01cf2106723265eb9b4f87bccf966eaca96e7df',
    since: '2026-11-30',
  },
  'reference/events': {
    sha256: 'efaf522afdb5ba89ddb6dff5460c8638527c36daebdbda00f9e4adc5135c6a92',
    since: '2026-11-30',
  },
  'reference/audit': {
    sha256: 'a0e8043776a1117491eaba79781a325e2275290f59b20839320fe4e8be14bac8',
    since: '2026-11-29',
  },
  'reference/broadcasts': {
    sha256: '2a71933d6160c9f14cdef625492ecf56b3e42e5e97ff22d97c113b6d3bf36d34',
    since: '2026-11-29',
  },
  'reference/notifications': {
    sha256: 'f422205d821975c164a9e5dab8092d1147f56205ff4e690718b0d2439707d23b',
    since: '2026-11-30',
  },
  'reference/webhooks': {
    sha256: '104c50afcccf47bc4e8fa831c45963ccf43a3d7f0c60b31735ffe54c3c419609',
    since: '2026-11-30',
  },
  'reference/webhooks.deliveries': {
    sha256: '77a25345ca1bc86ced6c4a6c858ab1c31069745d4f405ae6f9d498d9bba75186',
    since: '2026-11-29',
  },
  'reference/forges': {
    sha256: 'd9eeeb2388fa50bd0c59dc6e688374e21d63023e707766bcad6b1e3b4764427e',
    since: '2026-11-29',
  },
  'reference/forges.repositories': {
    sha256: 'e010390a1142c6781279d08a7613850de6ec04bab2e56a31560c5e9223c494bf',
    since: '2026-11-29',
  },
  'reference/forges.deliveries': {
    sha256: 'c5090124864489141f214560bab4afd0c92441e0ddd9f1d80112c34547c3f8f2',
    since: '2026-11-29',
  },
  'reference/gamification': {
    sha256: '5033b6ca884c89795d0d6c5f592957005104e19305ff14a781182fd40ef4f228',
    since: '2026-11-29',
  },
  'reference/billing': {
    sha256: '61389cdb579e22d5eaf1b31581d639a367c03e70503abb7feb0817e6a4bcd1ac',
    since: '2026-12-01',
  },
  'reference/admin.platform': {
    sha256: 'bcf9e9b3fb8822719a8034596ff7419280f20758ccc3eec2d7fa5b8b2e501ceb',
    since: '2026-11-30',
  },
  'reference/records': {
    sha256: '11f2ccad499de5b76ba2795e38cc29abe2d32059e721d2760c40152c834cea7f',
    since: '2026-11-30',
  },
  'reference/errors': {
    sha256: '6725100b94db6e7e6c8d8bd6f05aa22a5e0d36134fc294f084896430c23ae1b9',
    since: '2026-11-30',
  },
  'reference/event-kinds': {
    sha256: '6cf2a86f9ccf5302ae90b45c093fca94fc88647dc9138bf282e56c76f1695d1a',
    since: '2026-11-30',
  },
};
