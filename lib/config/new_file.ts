// What does a new configuration file hold?

/**
 * What a person would change, each part switched off by `#`: as it stands it changes nothing. Explanations begin with
 * `# `, keys with `#` alone.
 */
export const newConfigFile =
  `# Configuration of otela. A key counts once the # before it is removed.
# otela config show   prints every key, its value, and where that came from
# otela config check  says whether a node could start with it

# worker: offers services; head: takes requests of clients; relay: carries traffic for others
#role: worker

# Where to find the first peers: addresses that "otela start" printed elsewhere, the URL of a head,
# or file:PATH on a shared disk, which a head writes with bootstrap.write: PATH
#bootstrap:
#  - /ip4/192.0.2.7/tcp/43905/p2p/12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH

# Meshes of other names are never met; a secret, the same on every machine, keeps strangers out
#network:
#  name: opentela
#  secret_file: ~/.config/opentela/secret

# The engine beside this node
#service:
#  name: llm
#  port: 8000

# Ports for clients and for peers; 0 takes any free one
#port: 8092
#tcpport: 43905
`;
