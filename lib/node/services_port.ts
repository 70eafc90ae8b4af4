// How does the operator door see and change this node's services?
import type { ServicesPort, ServiceStatus as ShownService } from "../gateway/operator_door.ts";
import { parseServiceRequest } from "../service/service_request.ts";
import type { ServiceSet, ServiceStatus } from "../service/service_set.ts";

/** Joins the operator door to the set of services. */
export function servicesPort(services: ServiceSet): ServicesPort {
  const find = (name: string) => services.list().find((service) => service.name === name);
  return {
    list: () => services.list().map(shown),
    add(description) {
      const config = parseServiceRequest(description);
      services.add(config);
      return Promise.resolve(shown(find(config.name)!));
    },
    async remove(name) {
      if (!find(name)) return false;
      await services.remove(name);
      return true;
    },
  };
}

function shown(service: ServiceStatus): ShownService {
  return {
    name: service.name,
    url: service.address,
    state: service.phase,
    reason: service.reason ?? "",
    identityGroups: service.identityGroups,
  };
}
