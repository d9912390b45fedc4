-- contract of 0017_lease_renewals_index: it finds what is due.
drop index leases_due;
