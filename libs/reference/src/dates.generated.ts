export const dates = {
  reference: {
    sha256: '6a3a84990ff60d0af41db828d25c7766c3e85f7c96a3de8f428d6254d21f4188',
    since: '2026-11-23',
  },
  'reference/deliveryExecutions': {
    sha256: '5aa5b9c19e89fd5012887f4ed408aa28fa109b543a1f462d9c5762fa9d6aefa2',
    since: '2026-11-23',
  },
  'reference/deliveryGroups': {
    sha256: '759a6e74f7b729cf1faa4513609584f0eb0f5e8ecd1668c14b1ea2888043105a',
    since: '2026-11-23',
  },
  'reference/agents': {
    sha256: '51dbda4a0a6c06cd52732f78dae23eac46fff73aff6052fb511ace6264f9bae4',
    since: '2026-11-23',
  },
  'reference/agents.catalog': {
    sha256: 'ba285cadc434324f627a69b402d176ab46a896593ea9be5bd8f3510f39d75a58',
    since: '2026-11-23',
  },
  'reference/locks': {
    sha256: 'f7996219c0bb9db7220d724b1b374ea011745ad560f119f59f831ab06cccd4a5',
    since: '2026-11-23',
  },
  'reference/session': {
    sha256: '354642117bf76dfbbf99074d158b451bcff51815dba50388455e529a578078db',
    since: '2026-11-23',
  },
  'reference/sessions': {
    sha256: '56983c3d4afd1cac37dba3cb2a330789f2e77355e5892fbf3157874dde7be6a3',
    since: '2026-11-23',
  },
  'reference/tokens': {
    sha256: '1ff8898c4c6acdd549de871723ff04e0f1d97585e4d4ed20e3ff31cc90f0eb0d',
    since: '2026-11-23',
  },
  'reference/connections': {
    sha256: 'cdeb7d9e22b110ab394ab5d68872227fc57c7d3d52fb0c6bb2d8f6b7d85daf4f',
    since: '2026-11-23',
  },
  'reference/passkeys': {
    sha256: '0bfae7eb50a4ac292e14d312621371f476310129f9c5c7592a4baa63e28fc0b9',
    since: '2026-11-23',
  },
  'reference/identityProviders': {
    sha256: '6ecbfb258b82c387a49bdcb810b7082496003194546a7171cb72ef4ce5523e10',
    since: '2026-11-23',
  },
  'reference/orgs': {
    sha256: 'fdfab4d79fe5181310f1b4027023895baef9f7a117b8e5e338252d2ba8830eb6',
    since: '2026-11-23',
  },
  'reference/members': {
    sha256: 'bc458eb70b662b405a11ec9a307383c3f222e50f7316e68dc8064c0ab823be46',
    since: '2026-11-23',
  },
  'reference/invitations': {
    sha256: '9b3643ed5a13e218407fe023cfdb3481e6ea311ef4582cc479a31462632093a2',
    since: '2026-11-23',
  },
  'reference/policy': {
    sha256: '349779a0350ab6c5f9a5233bef1642c221020e107d88a5ffc718cf8a801f9c33',
    since: '2026-11-23',
  },
  'reference/teams': {
    sha256: '39c90c84eea2075f9e9a120f20c98273c84186206d770fc51186d850eb1cde52',
    since: '2026-11-23',
  },
  'reference/teams.members': {
    sha256: 'c807005d661a9cd994b2006d3a4ad77cfd66a8236eac8a63a3803b48f74d14a7',
    since: '2026-11-23',
  },
  'reference/teams.projects': {
    sha256: '5c816c38dd8fd673fa3fa62c7c9bc81d524285df81a23021e5d92a24ce722713',
    since: '2026-11-23',
  },
  'reference/devices': {
    sha256: 'c1cb9775d7e434927a7be96e67e5441e3cacd7cf2aaa258d4550fe53fda54427',
    since: '2026-11-23',
  },
  'reference/projects': {
    sha256: '1f293f62f4f319b13aec770ce0c0a0c041633d1199ac574d17732342dfa1b354',
    since: '2026-11-23',
  },
  'reference/projects.members': {
    sha256: '339ff65295c297d6b844ec9092c818f0a6e1810aa38d98efadd20f969046d2c3',
    since: '2026-11-23',
  },
  'reference/projects.teams': {
    sha256: 'bd7723747567180d55aacda821eab12086c586e70e81659229f58ea19d784ad1',
    since: '2026-11-23',
  },
  'reference/projects.accessRequests': {
    sha256: '49476029755843c1b352456082e3e72b076d01c1c58fea04bbcdbb544a64388c',
    since: '2026-11-23',
  },
  'reference/boardColumns': {
    sha256: '74279eec6d078de3e77b7e918a3378a2f625fc9a86c0ec2aba2b2e03e19e6555',
    since: '2026-11-23',
  },
  'reference/epics': {
    sha256: '579dc785da63fa1ad573b5eb895e9771ea7460f8c0e065011702a020e345fb6c',
    since: '2026-11-23',
  },
  'reference/stories': {
    sha256: '991e6b38346a9a1c713736fe62fd275d1bdf77810b93359fd2df0c2aae36e442',
    since: '2026-11-23',
  },
  'reference/storySpec': {
    sha256: 'ba76f1d95507ed2ec9f8c54b64c7ee90404eaf8084d9c0d8ca7367e5ec8a0b0b',
    since: '2026-11-23',
  },
  'reference/storyCollaboration': {
    sha256: '483cd1bb169dbd78450c3fe5be81631405d69253deba55ed816d65eef3c81c21',
    since: '2026-11-23',
  },
  'reference/comments': {
    sha256: '4f39aab3f8babdc294da095f4a1e9ed9f8fd94b3758440b8bf93e020e850cf30',
    since: '2026-11-23',
  },
  'reference/assignments': {
    sha256: 'a9ce065ef4c4db7977dc35a2bfb8ebe67200151aa57331e89304c1e73e23e568',
    since: '2026-11-23',
  },
  'reference/reviewers': {
    sha256: '6de2c0be1ffd7924b50a5613725ce4f062820aa28520de4428c9f48e30644cd8',
    since: '2026-11-23',
  },
  'reference/prompts.org': {
    sha256: '536f0c78c27aeb5ce232b5a38eb5ecd977ca9f22ca17f8e04abecfaf77a1efeb',
    since: '2026-11-23',
  },
  'reference/prompts.project': {
    sha256: '184f6f9acd28c39de00a923d65ed1fbed9dcb1115257272cb3401a2514803b67',
    since: '2026-11-23',
  },
  'reference/contracts': {
    sha256: 'd02ed1e070faa3e1ac1e820e82f0adacbf5f25292375efc3895b35ebea14254b',
    since: '2026-11-23',
  },
  'reference/search': {
    sha256: '463b2813cd3e1a0001b468ae0af77fa5696885904b0ad853156a960427676a56',
    since: '2026-11-23',
  },
  'reference/imports': {
    sha256: 'a219d40da22364a57d3c96d6d4875b475652e9466653b13d243f64d12644e2c1',
    since: '2026-11-23',
  },
  'reference/activity': {
    sha256: '33aca1390c609c02a130b2ff022fadc5418fc951a2ed8a5383a21791e57cb688',
    since: '2026-11-23',
  },
  'reference/events': {
    sha256: '2952f3448695a0b00beeddb7e61c0ae3713eaa87f357f001d6c1e5ea1c23b627',
    since: '2026-11-23',
  },
  'reference/forges': {
    sha256: '916bfbc2474cfb5a9592078fc0421b14ab59987de12058b5bddb3a9a3ffa756e',
    since: '2026-11-23',
  },
  'reference/forges.repositories': {
    sha256: 'b0ab1996a20d269397935c7dd76a6db60d0033d0e03f4a180759adf88c6e3b25',
    since: '2026-11-23',
  },
  'reference/forges.deliveries': {
    sha256: '02ab384cadfccd61fe4214722e95cae3e81ff8e10eec90c244361b147455209e',
    since: '2026-11-23',
  },
  'reference/audit': {
    sha256: 'b2ac14fa32161eac69ac7d85b6418b9ba536a11c3c2c06dcc4f8acd32fb68c34',
    since: '2026-11-23',
  },
  'reference/broadcasts': {
    sha256: '5bd27e9c5d829b61dfb310640425a3cc59c691287364c503480c3257819b5094',
    since: '2026-11-23',
  },
  'reference/notifications': {
    sha256: '56d7b126c54e61c681a774e2f33fff89bf20e799e52966b6812cf1d1dc67fa7b',
    since: '2026-11-23',
  },
  'reference/webhooks': {
    sha256: '450b0cc9767adc4c75ed369c19d10be440673bc273ebef4f4340121aca545a6d',
    since: '2026-11-23',
  },
  'reference/webhooks.deliveries': {
    sha256: '890c4b44417fb3de891ee935e240bedde5714e1a0d38e880428a8ad4ff261122',
    since: '2026-11-23',
  },
  'reference/gamification': {
    sha256: 'a8d9aa73ed5308b9aa073b17da597938c48be112eae1bfad58ec4685370f95e2',
    since: '2026-11-23',
  },
  'reference/billing': {
    sha256: '5ce714ee15c64099201ecdd9194cfb0d5cd2929bc20c68232f6029398f436698',
    since: '2026-11-23',
  },
  'reference/admin.platform': {
    sha256: '6a3ef996502f34ae10976e4f7e2a4882d2648ecbf5345fc8aeab7fa75328e0e1',
    since: '2026-11-23',
  },
  'reference/records': {
    sha256: '23747dead18f1c72e9a7e19f66443442233e9a0e2bbbc38ee66817098275d977',
    since: '2026-11-23',
  },
  'reference/errors': {
    sha256: '5935bd2111250047720dd00c5b2eb801e61fb5ce58f4a8a45d84feff503f9a63',
    since: '2026-11-23',
  },
  'reference/event-kinds': {
    sha256: 'd203a53489b98d5f15efbc12fa280e388184388fb9920751e09b6381e80bed9d',
    since: '2026-11-23',
  },
};
