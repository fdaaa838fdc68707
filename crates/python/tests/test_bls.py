"""BLS signatures against py_ecc."""

import pytest
from py_ecc.bls import G2ProofOfPossession as judge

import proofmill as pm

SECRETS = [1, 2, 2**200 + 5]
MESSAGE = b"message"


def secret(number):
    return number.to_bytes(32, "big")


@pytest.fixture(scope="module")
def signed():
    keys = [pm.bls.public_key(secret(number)) for number in SECRETS]
    return keys, [pm.bls.sign(secret(number), MESSAGE) for number in SECRETS]


def test_keys_and_signatures(signed):
    keys, signatures = signed
    for number, key, signature in zip(SECRETS, keys, signatures):
        assert key == judge.SkToPk(number)
        assert signature == judge.Sign(number, MESSAGE)
        assert pm.bls.verify(key, MESSAGE, signature) is None
        with pytest.raises(pm.Rejected):
            pm.bls.verify(key, b"massage", signature)
    proof = pm.bls.prove_possession(secret(SECRETS[0]))
    assert proof == judge.PopProve(SECRETS[0])
    pm.bls.verify_possession(keys[0], proof)
    with pytest.raises(pm.Rejected):
        pm.bls.verify_possession(keys[1], proof)


def test_aggregates(signed):
    keys, signatures = signed
    both = pm.bls.aggregate(signatures)
    assert both == judge.Aggregate(signatures)
    pm.bls.fast_aggregate_verify(keys, MESSAGE, both)
    pm.bls.verify(pm.bls.aggregate_keys(keys), MESSAGE, both)
    assert judge.FastAggregateVerify(keys, MESSAGE, both)
    messages = [b"a", b"bb", b""]
    each = [pm.bls.sign(secret(number), message) for number, message in zip(SECRETS, messages)]
    pm.bls.aggregate_verify(keys, messages, pm.bls.aggregate(each))
    with pytest.raises(pm.Rejected):
        pm.bls.aggregate_verify(keys, messages[::-1], pm.bls.aggregate(each))
    with pytest.raises(pm.Mismatch):
        pm.bls.aggregate_verify(keys, messages[:2], both)
    for empty in [pm.bls.aggregate, pm.bls.aggregate_keys]:
        with pytest.raises(pm.Malformed):
            empty([])


def test_batches(signed):
    keys, signatures = signed
    sets = [([key], MESSAGE, signature) for key, signature in zip(keys, signatures)]
    sets.append((keys, MESSAGE, pm.bls.aggregate(signatures)))
    pm.bls.verify_batch(sets)
    assert pm.bls.find_invalid(sets) == []
    sets[1] = ([keys[1]], b"other", signatures[1])
    with pytest.raises(pm.Rejected):
        pm.bls.verify_batch(sets)
    assert pm.bls.find_invalid(sets) == [1]
    for wrong in [[], [([], MESSAGE, signatures[0])]]:
        with pytest.raises(pm.Malformed):
            pm.bls.verify_batch(wrong)


def test_refused(signed):
    keys, signatures = signed
    for wrong in [b"", bytes(31), bytes(32), b"\xff" * 32]:
        with pytest.raises(pm.Malformed):
            pm.bls.sign(wrong, MESSAGE)
    for wrong in [b"", bytes(48), keys[0][:-1], b"\xc0" + bytes(47)]:
        with pytest.raises(pm.Malformed):
            pm.bls.verify(wrong, MESSAGE, signatures[0])
    for wrong in [b"", bytes(96), signatures[0] + b"\0"]:
        with pytest.raises(pm.Malformed):
            pm.bls.verify(keys[0], MESSAGE, wrong)
    with pytest.raises(ValueError, match=r"signatures\[1\]: expected 96 bytes, found 3"):
        pm.bls.aggregate([signatures[0], b"abc"])
    for wrong in ["text", None, 3]:
        with pytest.raises(TypeError):
            pm.bls.sign(secret(1), wrong)


def test_new_keys():
    one, two = pm.bls.keygen(), pm.bls.keygen()
    assert len(one) == 32 and one != two
    # EIP-2333, test case 0.
    seed = bytes.fromhex(
        "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04"
    )
    child = 20397789859736650942317412262472558107875392172444076792671091975210932703118
    assert int.from_bytes(pm.bls.derive(seed, "m/0"), "big") == child
    with pytest.raises(pm.Malformed):
        pm.bls.derive(b"short", "m/0")
    with pytest.raises(pm.Malformed):
        pm.bls.derive(seed, "n/0")
