//! Termination and readiness: what a load balancer and a service manager see.
