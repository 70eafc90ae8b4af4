// How do gossip and the DHT see admitted connections only?
import type {
  Connection,
  PeerId as Libp2pPeerId,
  Stream,
  StreamHandler,
  StreamHandlerOptions,
  Topology,
} from "@libp2p/interface";
import type { Registrar } from "@libp2p/interface-internal";

/** What the registrar asks of admission. */
export type AdmissionGate = {
  isAdmitted(connection: Connection): boolean;
  settled(connection: Connection): Promise<void>;
};

/**
 * libp2p's components for a service that must neither hear nor tell anything on a connection before it is
 * admitted: its streams are refused, and it learns of a peer once that peer's connection is admitted.
 */
export function admittedComponents<Components extends { registrar: Registrar }>(
  components: Components,
  gate: AdmissionGate,
): Components {
  const { registrar } = components;
  const handle = (protocol: string, handler: StreamHandler, options?: StreamHandlerOptions) =>
    registrar.handle(protocol, (stream: Stream, connection: Connection) => {
      if (gate.isAdmitted(connection)) return handler(stream, connection);
      stream.abort(new Error("The connection is not admitted"));
    }, options);
  const register = (protocol: string, topology: Topology) =>
    registrar.register(protocol, admittedTopology(topology, gate));
  return override(components, { registrar: override(registrar, { handle, register }) });
}

/** The same object with some members replaced. A proxy, since libp2p's components are one that cannot be copied. */
function override<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && Object.hasOwn(members, name)) return members[name];
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function admittedTopology(topology: Topology, gate: AdmissionGate): Topology {
  return {
    filter: topology.filter,
    notifyOnLimitedConnection: topology.notifyOnLimitedConnection,
    onConnect: async (peer: Libp2pPeerId, connection: Connection) => {
      const isAdmitted = await gate.settled(connection).then(() => true, () => false);
      if (isAdmitted && connection.status === "open") await topology.onConnect?.(peer, connection);
    },
    onDisconnect: (peer: Libp2pPeerId) => topology.onDisconnect?.(peer),
  };
}
