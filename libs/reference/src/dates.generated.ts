export const dates = {
  reference: {
    sha256: '6a3a84990ff60d0af41db828d25c7766c3e85f7c96a3de8f428d6254d21f4188',
    since: '2026-11-23',
  },
  'reference/deliveryExecutions': {
    sha256: '5130fe5dcb2a97a1b906a97fc3aa0c31596596afdf24c5e07267c1ef29cfe2a6',
    since: '2026-11-26',
  },
  'reference/deliveryGroups': {
    sha256: '0b664f06da84efeb73c26a3d19c9182ba365c073f01aa9ce59f74ea727f0cac0',
    since: '2026-11-26',
  },
  'reference/agents': {
    sha256: '9ae7950c06dd3435943ef6cd9e3e3669cadbb3af954150e901e0f179e37f1466',
    since: '2026-11-26',
  },
  'reference/agents.catalog': {
    sha256: '5552fa86f9062b3fe2a3470dad55894070f2a9fe17ec6b4a619647be624af0e2',
    since: '2026-11-26',
  },
  'reference/locks': {
    sha256: '33ee16f94bf409c0c8cee37e1c61f586e98eb890ae29c22e43409a10a7c867aa',
    since: '2026-11-26',
  },
  'reference/session': {
    sha256: '95be05880c59f1cfb91f81e9bc7ef3b46c831c7b6bee72d387ef0425414269b5',
    since: '2026-11-26',
  },
  'reference/sessions': {
    sha256: '70aa395cb77a35762ddd7db2d1cd8b7f1fdd5e9a1ae6412afbc7f5c5d1695a91',
    since: '2026-11-26',
  },
  'reference/tokens': {
    sha256: '1b21272d41085ca647cf89c3f13d73bc243d0597b30a0ebf18722c2658109497',
    since: '2026-11-26',
  },
  'reference/connections': {
    sha256: 'a4e15170f4962022d191c0e7a2a5f8159a431ebd4d4e29295f87e2890581cad6',
    since: '2026-11-26',
  },
  'reference/passkeys': {
    sha256: 'e2be0e8e2602caa78f9ea0822671365d774cf17daa08702d5e0c50be25134302',
    since: '2026-11-26',
  },
  'reference/identityProviders': {
    sha256: '0ecf0e1f91d62cbd6cec609fb406f6af5814786230f74cf6afcfaa5d94eb664b',
    since: '2026-11-26',
  },
  'reference/orgs': {
    sha256: '756c9a751eeb681e05807e2cda10762e93b5ae1a932f9542a2c05c4285d263ac',
    since: '2026-11-26',
  },
  'reference/members': {
    sha256: '57e5961f28e7464997a52e22ab0bc7d6b0a6ced607dc38f4e4b5fc28b82afe9c',
    since: '2026-11-26',
  },
  'reference/invitations': {
    sha256: 'cf464159c96b98c9c52c0a89f7651a84718a0354bfcc510a961636eb15e0c296',
    since: '2026-11-26',
  },
  'reference/policy': {
    sha256: '9ce04f16e20f1e10096df5c8c71b4d93fff4258b2b1eeec69961ebe598d3ac71',
    since: '2026-11-26',
  },
  'reference/teams': {
    sha256: '9dd358f56c9f7ae3405200d4721c1c66ae41541abf926f813ae6e07a8957cb9a',
    since: '2026-11-26',
  },
  'reference/teams.members': {
    sha256: '4ef31e8ae3ba294d29b9a7b6f97e7bca24bee48c11980547c0e9de43060c40c3',
    since: '2026-11-26',
  },
  'reference/teams.projects': {
    sha256: '246f79bf9efdd17985a7d74bc2a6544b75485e96dbbf058bb66bea0770a2728a',
    since: '2026-11-26',
  },
  'reference/devices': {
    sha256: '241420b0dab0147d34faa9fae37002677b3ee0c155818c955609ed375b946451',
    since: '2026-11-26',
  },
  'reference/projects': {
    sha256: '8f6b7bd21b36ca50a3d34ee9c2223facff35506bb7cca326dc152bb9940c5ea3',
    since: '2026-11-26',
  },
  'reference/projects.members': {
    sha256: 'ef52101798e616acc4a312036fc45e914a31ab74bfb63f7dd9aff4a6ee245d4c',
    since: '2026-11-26',
  },
  'reference/projects.teams': {
    sha256: '48eadd6b7e4579f475c8ea345dec25d3b50bb5d413ff84107dcbf3348f5dbd33',
    since: '2026-11-23',
  },
  'reference/projects.accessRequests': {
    sha256: '1b91a3c2e8be8451c51a4eeff1960f3cb15afcadbe0f398d56207333a4e30aa6',
    since: '2026-11-26',
  },
  'reference/boardColumns': {
    sha256: '19ae8e7262ae4c28c1bc51ac2e3d81f1e3730f4f9561c07c80412d02e635f0f8',
    since: '2026-11-26',
  },
  'reference/epics': {
    sha256: '692ba57fd959bbf6a6f3306ccca5b8f71fcc72a2fdf8b19e0c8ec56a97d037a9',
    since: '2026-11-26',
  },
  'reference/stories': {
    sha256: '1c2842569a97c305efb9f7176b6b4afff954855cd36c726eef6e02a0badae6d7',
    since: '2026-11-26',
  },
  'reference/storySpec': {
    sha256: 'd37f273e26b459e96d077795aadf6b9130845a7170e356947f079ac8d51b074a',
    since: '2026-11-26',
  },
  'reference/storyCollaboration': {
    sha256: '35a4d88464070cc872de0941aaeaa496c58fec21940fce8ba77db5ba3b2294eb',
    since: '2026-11-26',
  },
  'reference/comments': {
    sha256: '1e0499f012d1201bb83c81a213af483a6f3adab4bb93feab6b7f8a1e161262bf',
    since: '2026-11-26',
  },
  'reference/assignments': {
    sha256: '9e49f3f2361336edfead8694d7ddd7ab324891445bca667a1b96888795be389a',
    since: '2026-11-26',
  },
  'reference/reviewers': {
    sha256: '3907eb878924104f3c1b46269932a118ad0ccd932a944e28b41753e4427952dd',
    since: '2026-11-26',
  },
  'reference/prompts.org': {
    sha256: 'c87883ddeb7db15f997a270a882d00f5745c8f20698b5bdf9edb88a6772e55ee',
    since: '2026-11-26',
  },
  'reference/prompts.project': {
    sha256: '05fb48ed1ddd5cd523a37175a2fde6aeecc6ed8fc7c5b55a2d3790af0632c16a',
    since: '2026-11-26',
  },
  'reference/contracts': {
    sha256: 'efc746a35a7385a92625a0e7c479e98320cb52faa64f8d3f5df6bdd7c60637db',
    since: '2026-11-26',
  },
  'reference/search': {
    sha256: 'ce7dd925b0d66a7d8ad7d2fc772d2c8ed6923aba7cfe06270c1a12a1ca604357',
    since: '2026-11-26',
  },
  'reference/imports': {
    sha256: '944ee0b3fb576eead40c4099c386ab2e85166dd31577f9e35fa2dc972b0db924',
    since: '2026-11-26',
  },
  'reference/activity': {
    sha256: '48a35d940bfec5ab0ee56f0370da2df940cf6287aee5d9f219d429727dd5d521',
    since: '2026-11-26',
  },
  'reference/events': {
    sha256: '0b88ca91ffc44e5e97c803edcfecb34fdf7de3432861f628784b13089b074809',
    since: '2026-11-26',
  },
  'reference/forges': {
    sha256: '9ace481a1cc1889998ba1c1654cd6328d84fe3758c821631167a8437f3e3a5fd',
    since: '2026-11-26',
  },
  'reference/forges.repositories': {
    sha256: 'b2f20bd3434e0e9cfd2084858efa892e79a9a87e7e03f62f7453ce32bc4b7d41',
    since: '2026-11-26',
  },
  'reference/forges.deliveries': {
    sha256: '942bd22a0fd39da6576f8e4cfcdb1425f4c43f40f69d9857a41d5f36db993f34',
    since: '2026-11-26',
  },
  'reference/audit': {
    sha256: 'f02f1cafb0afb07021ffae628dffd55ef62176565b158bdbe0a953d71ff56bce',
    since: '2026-11-26',
  },
  'reference/broadcasts': {
    sha256: '0221c94e6fa8e833eb7d16efdb7fea5fff942baac2e9925a953b5c5be3a5a779',
    since: '2026-11-26',
  },
  'reference/notifications': {
    sha256: '458ae7aeebc10b8c67e565bf381f1d1a0affbff301a73983fdf689f81c1deebf',
    since: '2026-11-26',
  },
  'reference/webhooks': {
    sha256: 'cdf5dc66abdb71f7b5a178b3423f30e7fddccc1ade2feac301f65f008b24f4c9',
    since: '2026-11-26',
  },
  'reference/webhooks.deliveries': {
    sha256: '1cf88ce1b8617f22f5677acfc525dbe9d4f370d35d3d49ec24f4d458b9ee63e6',
    since: '2026-11-26',
  },
  'reference/gamification': {
    sha256: '8abf93d4a4704ccc5bc21e63aa610236a97b3b111146bebda0ea05b192a9b94f',
    since: '2026-11-26',
  },
  'reference/billing': {
    sha256: '25979651cc0e2d711da9a04a4154a772b193bcf0fb6defef41d4435560d930d7',
    since: '2026-11-26',
  },
  'reference/admin.platform': {
    sha256: '5a8778d7f62d795fb8c8c9efe019363ef33c2247354f3157c1b1f5aa9116e774',
    since: '2026-11-26',
  },
  'reference/records': {
    sha256: '9805ce78e4cb1c24ec294d032346c39cc7341f8658555c116665b07a667da31c',
    since: '2026-11-26',
  },
  'reference/errors': {
    sha256: 'bd6697ecca5a9c4a4c5d9227623de83f2cc8cd92e26a8408a9fa5004feb6f980',
    since: '2026-11-26',
  },
  'reference/event-kinds': {
    sha256: 'd203a53489b98d5f15efbc12fa280e388184388fb9920751e09b6381e80bed9d',
    since: '2026-11-23',
  },
};
